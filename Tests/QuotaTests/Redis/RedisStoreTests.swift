import GatewayTesting
import GatewayTypes
import Quota
import Testing

@Suite struct RedisStoreTests {
    @Test(arguments: StoreContract.checks)
    func holdsTheContract(check: ContractCheck) async throws { try await check.run(RedisBench().bench) }
}
