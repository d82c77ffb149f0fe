/// What `--help` shows.
enum Help {
    static let overview = """
        Askgate: a gateway between apps and AI providers.

        USAGE: askgate <command> [options]

          serve           answer requests
          check           look a configuration file through
          quota           look at quotas and move them
          revoke          take tokens back before they expire
          operator-token  make a token for who may do that
          token           issue an access token for development
          health          ask a running gateway whether it lives

        `askgate help <command>` shows the options of one. `askgate --version` shows the version.

        EXAMPLES:
          askgate serve --development
          askgate serve --config /etc/askgate/askgate.yaml
          askgate check /etc/askgate/askgate.yaml
        """

    static func text(for command: String?) -> String {
        switch command {
        case "serve": self.serve
        case "check": self.check
        case "token": self.token
        case "health": self.health
        case "quota": self.quota
        case "revoke": self.revoke
        case "operator-token": self.operatorToken
        default: self.overview
        }
    }

    private static let serve = """
        USAGE: askgate serve (--config FILE | --development [--port PORT] [--state DIRECTORY])

          --config FILE      the configuration; SIGHUP reads it again
          --development      embedded defaults: counters in memory, a demo provider, one demo tenant, one operator
          --port PORT        with --development: the api listener, and the admin listener on the next (8080 and 9090)
          --state DIRECTORY  where --development keeps its signing secret and its operator's token (.askgate);
                             ASKGATE_DEVELOPMENT_SECRET goes before the secret there

        SIGTERM ends in good order, a second one at once. SIGHUP reloads and reopens log files.

        EXAMPLES:
          askgate serve --development
          askgate serve --development --port 18080
          askgate serve --config config/askgate.yaml
        """

    private static let check = """
        USAGE: askgate check FILE [--effective]

          --effective   also print what the file amounts to, defaults filled in and secrets redacted

        Prints every problem as file:line:column with what to write instead. Exit status 1 when there are errors.

        EXAMPLE:
          askgate check config/askgate.yaml
        """

    private static let token = """
        USAGE: askgate token [--subject NAME] [--plan NAME] [--scope SCOPE] [--lifetime DURATION] [SOURCE]

          --subject NAME        the token's sub (demo-user)
          --plan NAME           a claim `plan`
          --scope SCOPE         a claim `scope`, space-separated
          --lifetime DURATION   such as 15m, 1h, 30d (1h)
          --claim NAME=VALUE    a further string claim; may be repeated

        SOURCE is the development tenant unless a key is named:
          --state DIRECTORY     where --development keeps its signing secret (.askgate), unless
                                ASKGATE_DEVELOPMENT_SECRET holds it
          --key FILE            a PEM private key, or a file with an HMAC secret
          --algorithm ALG       HS256, RS256 or ES256 and their longer forms (HS256)
          --issuer URL --audience NAME   with --key: iss and aud
          --key-id ID           the header's kid
          --typ TYPE            the header's typ (at+jwt); the configuration's accept_typ has to hold it

        EXAMPLES:
          askgate token --subject alice --plan pro
          askgate token --key key.pem --algorithm ES256 --issuer https://id.example.com --audience my-app --subject alice
        """

    private static let health = """
        USAGE: askgate health [--admin URL] [--ca FILE] [--ready]

          --admin URL   the admin listener, or ADDRESS:PORT (ASKGATE_ADMIN_URL, else http://127.0.0.1:9090)
          --ca FILE     trusted roots for an https address
          --ready       ask for readiness instead of liveness

        Exit status 0 when the answer is yes, else 1.
        """
}
