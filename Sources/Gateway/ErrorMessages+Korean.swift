import GatewayTypes

extension ErrorMessages {
    static func korean(_ code: ErrorCode) -> String {
        switch code {
        case .invalidRequest: "요청을 처리할 수 없습니다. 다시 시도해 주세요."
        case .unknownTask: "사용할 수 없는 기능입니다."
        case .textTooShort: "텍스트가 너무 짧습니다. 조금 더 입력해 주세요."
        case .modelNotSelectable: "여기에서는 모델을 선택할 수 없습니다. 모델을 지정하지 않고 다시 보내 주세요."
        case .unauthenticated: "다시 로그인해 주세요."
        case .taskNotInPlan: "현재 요금제에는 이 기능이 포함되어 있지 않습니다."
        case .subjectBlocked: "이용이 정지되었습니다. 고객 지원에 문의해 주세요."
        case .insufficientScope: "이 작업을 수행할 권한이 없습니다."
        case .notFound: "요청하신 항목을 찾을 수 없습니다."
        case .methodNotAllowed: "여기에서는 할 수 없는 작업입니다."
        case .requestTimeout: "요청을 보내는 데 시간이 너무 오래 걸렸습니다. 연결 상태를 확인하고 다시 시도해 주세요."
        case .unsupportedMediaType: "지원하지 않는 형식입니다."
        case .headersTooLarge: "요청이 너무 큽니다."
        case .textTooLong: "텍스트가 너무 깁니다. 내용을 줄여 주세요."
        case .bodyTooLarge: "요청이 너무 큽니다. 내용을 줄여 주세요."
        case .guestSessionClaimed: "이 게스트 세션은 이미 다른 계정에 연결되었습니다."
        case .questionCancelled: "질문이 취소되었습니다."
        case .questionGone: "이 답변은 더 이상 볼 수 없습니다. 다시 질문해 주세요."
        case .instanceUnreachable: "지금은 답변을 불러올 수 없습니다. 잠시 후 다시 시도해 주세요."
        case .idempotencyInProgress: "아직 답변 중입니다. 잠시 기다려 주세요."
        case .idempotencyMismatch: "이전 요청과 내용이 다릅니다. 다시 보내 주세요."
        case .idempotencyFinished: "이미 답변이 끝난 질문입니다. 다시 질문해 주세요."
        case .tooManyFailedAuthentications:
            "같은 네트워크에서 실패한 로그인 시도가 너무 많습니다. 1분 후에 다시 시도해 주세요."
        case .requestsPerMinuteExceeded: "질문이 너무 많습니다. 1분 후에 다시 시도해 주세요."
        case .tokensPerDayExceeded: "오늘 사용량을 모두 사용했습니다. 내일 다시 이용해 주세요."
        case .concurrentRequestsExceeded: "처리 중인 질문이 너무 많습니다. 진행 중인 질문이 끝난 뒤 다시 시도해 주세요."
        case .providerFailed: "AI 서비스가 답변하지 못했습니다. 나중에 다시 시도해 주세요."
        case .providerEmptyAnswer: "AI 서비스에서 답변을 받지 못했습니다. 다시 시도해 주세요."
        case .providerTimeout: "AI 서비스의 응답이 너무 오래 걸립니다. 다시 시도해 주세요."
        case .providerOverloaded: "AI 서비스에 요청이 많습니다. 잠시 후 다시 시도해 주세요."
        case .quotaStoreUnavailable: "서비스를 일시적으로 이용할 수 없습니다. 잠시 후 다시 시도해 주세요."
        case .identityUnavailable: "지금은 계정을 확인할 수 없습니다. 잠시 후 다시 시도해 주세요."
        case .overloaded: "서비스에 요청이 많습니다. 잠시 후 다시 시도해 주세요."
        case .draining: "서비스를 다시 시작하는 중입니다. 잠시 후 다시 시도해 주세요."
        case .internalError: "서비스에 문제가 발생했습니다. 다시 시도해 주세요."
        }
    }

    static func korean(_ limit: Limit, _ wait: Wait) -> String {
        let time = self.korean(wait)
        let count = limit.quantity
        let retry = "\(time) 후에 다시 시도해 주세요."
        let renewal = "\(time) 후에 다시 이용할 수 있습니다."
        return switch (limit.kind, limit.scope) {
        case (.requestsPerMinute, .subject): "1분에 \(count)개까지 질문할 수 있습니다. \(retry)"
        case (.requestsPerMinute, .tenant): "지금 이 앱에서 보내는 질문이 너무 많습니다. \(retry)"
        case (.requestsPerMinute, .address): "최근 1분 동안 같은 네트워크에서 보낸 질문이 너무 많습니다. \(retry)"
        case (.tokensPerDay, .subject): "오늘 사용량을 모두 사용했습니다. \(renewal)"
        case (.tokensPerDay, .tenant): "이 앱의 오늘 사용량이 모두 소진되었습니다. \(renewal)"
        case (.tokensPerDay, .address): "사용 중인 네트워크의 오늘 사용량이 모두 소진되었습니다. \(renewal)"
        case (.concurrentRequests, .subject):
            "동시에 \(count)개까지 질문할 수 있습니다. 진행 중인 질문이 끝난 뒤 다시 시도해 주세요."
        case (.concurrentRequests, .tenant): "지금 이 앱에서 처리 중인 질문이 너무 많습니다. \(retry)"
        case (.concurrentRequests, .address): "같은 네트워크에서 처리 중인 질문이 너무 많습니다. \(retry)"
        }
    }

    private static func korean(_ wait: Wait) -> String {
        switch wait {
        case .seconds(let count): "\(count)초"
        case .minutes(let count): "\(count)분"
        case .hours(let count): "\(count)시간"
        }
    }
}
