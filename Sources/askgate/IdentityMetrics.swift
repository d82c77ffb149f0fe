import Authentication
import Gateway
import GatewayTypes
import Observability

/// Brings the metrics of key sets and of standing orders up to date, and tells operators of trouble with the former.
enum IdentityMetrics {
    /// A key set that cannot be fetched is told once for each way in which it fails, and again when it can.
    static func tell(_ news: KeySetNews, _ operations: OperationLog) {
        var fields: [LogField] = [
            .configuration("issuer", news.issuer.string), .configuration("address", news.address),
            .int("keys", news.keys),
        ]
        guard !news.outcome.isGood else { return operations.info("keys of an issuer can be fetched again", fields) }
        fields.append(.label("outcome", news.outcome))
        fields.append(.constant("document", news.isAboutMetadata ? "metadata" : "keys"))
        operations.error("keys of an issuer cannot be fetched", fields)
    }

    static func sample(_ fetcher: KeySetFetcher, _ board: OrderBoard, _ metrics: MetricsRegistry) {
        var samples: [KeySetSample] = []
        // Two entries may fetch one issuer's keys from two places: they are told as one.
        for report in fetcher.reports {
            let issuer = metrics.labels.intern(report.issuer)
            var fetches: [LabelID: Int] = [:]
            for (outcome, count) in report.outcomes { fetches[metrics.labels.intern(outcome)] = count }
            guard let last = samples.last, last.issuer == issuer else {
                samples.append(KeySetSample(issuer: issuer, keys: report.keys, age: report.age, fetches: fetches))
                continue
            }
            var sum = samples.removeLast()
            sum.keys += report.keys
            sum.age = [last.age, report.age].compactMap { $0 }.max()
            sum.fetches.merge(fetches, uniquingKeysWith: +)
            samples.append(sum)
        }
        metrics.background.identitySampled(samples, orders: board.orderCount)
    }
}
