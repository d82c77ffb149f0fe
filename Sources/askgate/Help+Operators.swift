/// What `--help` shows of the commands for operators.
extension Help {
    static let quota = """
        USAGE: askgate quota <verb> [TENANT [SUBJECT]] [options]

        Without SUBJECT the tenant's own counters are meant.

          show     limits, usage, overrides and block; without TENANT all tenants and plans
                     --plan NAME      the plan whose limits are shown (the tenant's default)
          set      NAME=QUANTITY replaces or adds a limit; takes --reason, --for, --until
          clear    the plan holds again
                     --limit NAME     only this one
          block    refuse every ask; takes --reason, --for, --until
          unblock  lift the block
          reset    set usage to zero; asks that run are charged when they settle
                     --limit NAME     only this one
          leases   the asks that hold a place in concurrent_requests
                     --drop REQUEST   free the place of one; `all` for every one
          give-plan   another plan than the token's or the tenant's; takes --reason, --for, --until
                     --plan NAME      which
          clear-plan  the subject's own plan holds again
          audit    what operators did, newest first
                     --lines N        at most 500 (50)
                     --before CURSOR  older ones

        HOLDERS AND CHANGES
          --subject NAME     for subjects that begin with -
          --address ADDRESS  the counters of one IPv4 or IPv6 address; what is set for it holds only for callers of
                             plans that have a limit of scope address
          --reason TEXT      why; kept in the audit trail
          --for DURATION     ends by itself after 90s, 15m, 2h, 30d
          --until TIME       ends by itself at 2030-03-21T04:00:00Z
          --if-version N     only if nobody has changed it since version N was shown

        WHERE
          --admin URL        the admin listener, or ADDRESS:PORT (ASKGATE_ADMIN_URL, else http://127.0.0.1:9090)
          --config FILE      take the listener from a configuration
          --ca FILE          trusted roots for an https address
          --token-file FILE  the operator's token (else ASKGATE_OPERATOR_TOKEN)
          --json             the answer as the admin API gives it

        Exit status: 0 done or nothing to do (the answer says which), 1 refused, 2 somebody was faster, 64 usage, 69 the
        gateway or its store does not answer.

        EXAMPLES:
          askgate quota show acme alice
          askgate quota set acme alice requests_per_minute=200 --reason "launch day" --for 6h
          askgate quota block acme mallory --reason "leaked key" --until 2030-01-01T00:00:00Z
          askgate quota reset acme alice --limit tokens_per_day
        """

    static let revoke = """
        USAGE: askgate revoke <verb> TENANT [ID] [options]

          token    refuse the token with this jti
          session  refuse every token with this sid
          subject  refuse every token of a subject that was issued until now
                     --before TIME    only those issued before 2026-03-21T04:00:00Z
          list     what is revoked
                     --lines N        at most 500 (100)
                     --after CURSOR   the next ones
          undo     take a revocation back
                     --token ID, --session ID or --subject NAME

        A revocation holds on every instance within a second, and is forgotten after 30 days unless --for or --until
        says otherwise: by then the tokens have to have expired.

          --id ID        for identifiers that begin with -
          --reason TEXT  why; kept in the audit trail
          --for DURATION, --until TIME   when it is forgotten

        Where the gateway is, --json and exit statuses: as `askgate help quota` says.

        EXAMPLES:
          askgate revoke token acme 3f2a9c --reason "posted in a forum"
          askgate revoke subject acme mallory --reason "stolen phone"
          askgate revoke undo acme --subject mallory --reason "found again"
        """

    static let operatorToken = """
        USAGE: askgate operator-token NAME [--role viewer|operator]

        Makes a token for the admin API. The token goes to standard output, the line for the configuration, which holds
        only its hash, to standard error. A file that `>` made is closed to other accounts.

        EXAMPLE:
          askgate operator-token night-shift > night-shift.token
        """
}
