// A certified OpenID provider on a port of its own: whoever signs in is who they say they are.
import http from "node:http";
import { pathToFileURL } from "node:url";

const { default: Provider } = await import(
    pathToFileURL(`${process.argv[2]}/node_modules/oidc-provider/lib/index.js`));
const server = http.createServer();
server.listen(0, "127.0.0.1", () => {
    const issuer = `http://localhost:${server.address().port}`;
    const provider = new Provider(issuer, {
        clients: [{
            client_id: "cadenza",
            client_secret: "a secret: of the tests",
            redirect_uris: ["http://127.0.0.1/sign-in/provider/back"],
        }],
        claims: { openid: ["sub"], email: ["email", "email_verified", "groups"] },
        conformIdTokenClaims: false,
        findAccount: (_ctx, id) => ({
            accountId: id,
            claims: () => ({
                sub: id,
                email: id,
                email_verified: !id.startsWith("unverified"),
                groups: id.startsWith("admin") ? ["admins"] : [],
            }),
        }),
    });
    // The dashboard listens on whatever port is free.
    provider.Client.prototype.redirectUriAllowed = (uri) => uri.endsWith("/sign-in/provider/back");
    server.on("request", provider.callback());
    console.log(issuer);
});
process.stdin.on("end", () => process.exit(0)).resume();
