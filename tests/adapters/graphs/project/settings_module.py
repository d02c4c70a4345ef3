import os

ADDRESS = os.getenv("OPENAI_BASE_URL")
