e.plan, {listed_endpoint}
