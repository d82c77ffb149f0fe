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
          audit    what operators did, newest first
                     --lines N        at most 500 (50)
                     --before CURSOR  older ones

        HOLDERS AND CHANGES
          --subject NAME     for subjects that begin with -
          --address ADDRESS  the counters of a network address
          --reason TEXT      why; kept in the audit trail
          --for DURATION     ends by itself after 90s, 15m, 2h, 30d
          --until TIME       ends by itself at 2030-03-21T04:00:00Z
          --if-version N     only if nobody has changed it since version N was shown

        WHERE
          --admin URL        the admin listener (ASKGATE_ADMIN_URL, else http://127.0.0.1:9090)
          --config FILE      take the listener from a configuration
          --ca FILE          trusted roots for an https address
          --token-file FILE  the operator's token (else ASKGATE_OPERATOR_TOKEN)
          --json             the answer as the admin API gives it

        Exit status: 0 done, 1 refused, 2 somebody was faster, 64 usage, 69 the gateway or its store does not answer.

        EXAMPLES:
          askgate quota show acme alice
          askgate quota set acme alice requests_per_minute=200 --reason "launch day" --for 6h
          askgate quota block acme mallory --reason "leaked key" --until 2030-01-01T00:00:00Z
          askgate quota reset acme alice --limit tokens_per_day
        """

    static let operatorToken = """
        USAGE: askgate operator-token NAME [--role viewer|operator]

        Makes a token for the admin API. The token goes to standard output, the line for the configuration, which holds
        only its hash, to standard error.

        EXAMPLE:
          askgate operator-token night-shift > night-shift.token
        """
}
