import GatewayTypes

extension ErrorMessages {
    static func russian(_ code: ErrorCode) -> String {
        switch code {
        case .invalidRequest: "Не удалось обработать запрос. Попробуйте ещё раз."
        case .unknownTask: "Эта функция недоступна."
        case .textTooShort: "Текст слишком короткий. Напишите, пожалуйста, подробнее."
        case .modelNotSelectable: "Выбрать модель здесь нельзя. Отправьте запрос без неё."
        case .unauthenticated: "Пожалуйста, войдите в аккаунт ещё раз."
        case .taskNotInPlan: "Эта функция не входит в ваш тариф."
        case .subjectBlocked: "Ваш доступ приостановлен. Обратитесь в службу поддержки."
        case .insufficientScope: "У вас нет прав на это действие."
        case .notFound: "Ничего не найдено."
        case .methodNotAllowed: "Это действие здесь недоступно."
        case .requestTimeout: "Запрос отправлялся слишком долго. Проверьте подключение и попробуйте ещё раз."
        case .unsupportedMediaType: "Такой тип содержимого не поддерживается."
        case .headersTooLarge: "Запрос слишком большой."
        case .textTooLong: "Текст слишком длинный. Пожалуйста, сократите его."
        case .bodyTooLarge: "Запрос слишком большой. Пожалуйста, сократите его."
        case .guestSessionClaimed: "Этот гостевой сеанс уже привязан к другому аккаунту."
        case .questionCancelled: "Вопрос отменён."
        case .questionGone: "Этот ответ больше недоступен. Пожалуйста, спросите ещё раз."
        case .instanceUnreachable: "Сейчас ответ недоступен. Пожалуйста, повторите попытку чуть позже."
        case .idempotencyInProgress: "Ответ ещё готовится. Пожалуйста, подождите немного."
        case .idempotencyMismatch: "Этот запрос отличается от предыдущего. Пожалуйста, отправьте его заново."
        case .idempotencyFinished: "На этот вопрос уже был дан ответ. Пожалуйста, спросите ещё раз."
        case .tooManyFailedAuthentications:
            "Из вашей сети поступило слишком много неудачных попыток входа. Попробуйте снова через минуту."
        case .requestsPerMinuteExceeded: "Вы задали слишком много вопросов. Попробуйте снова через минуту."
        case .tokensPerDayExceeded: "Лимит на сегодня исчерпан. Возвращайтесь завтра."
        case .concurrentRequestsExceeded: "Обрабатывается слишком много вопросов. Дождитесь ответа на один из них."
        case .providerFailed: "ИИ-сервис не смог ответить. Попробуйте позже."
        case .providerEmptyAnswer: "ИИ-сервис не дал ответа. Попробуйте ещё раз."
        case .providerTimeout: "ИИ-сервис слишком долго не отвечает. Попробуйте ещё раз."
        case .providerOverloaded: "ИИ-сервис сейчас перегружен. Попробуйте немного позже."
        case .quotaStoreUnavailable: "Сервис временно недоступен. Попробуйте немного позже."
        case .identityUnavailable: "Сейчас не удаётся проверить ваш аккаунт. Попробуйте немного позже."
        case .overloaded: "Сервис сейчас перегружен. Попробуйте немного позже."
        case .draining: "Сервис перезапускается. Попробуйте немного позже."
        case .internalError: "Произошла ошибка на нашей стороне. Попробуйте ещё раз."
        }
    }

    static func russian(_ limit: Limit, _ wait: Wait) -> String {
        let time = self.russian(wait)
        let count = limit.quantity
        return switch (limit.kind, limit.scope) {
        case (.requestsPerMinute, .subject):
            """
            Вы достигли лимита: \(count) \(self.form(count, "вопрос", "вопроса", "вопросов")) в минуту. \
            Попробуйте снова через \(time).
            """
        case (.requestsPerMinute, .tenant):
            "Сейчас через это приложение задают слишком много вопросов. Попробуйте снова через \(time)."
        case (.requestsPerMinute, .address):
            "За последнюю минуту из вашей сети поступило слишком много вопросов. Попробуйте снова через \(time)."
        case (.tokensPerDay, .subject): "Ваш лимит на сегодня исчерпан. Он обновится через \(time)."
        case (.tokensPerDay, .tenant): "Лимит приложения на сегодня исчерпан. Он обновится через \(time)."
        case (.tokensPerDay, .address): "Лимит вашей сети на сегодня исчерпан. Он обновится через \(time)."
        case (.concurrentRequests, .subject):
            "Ваши вопросы ещё обрабатываются (одновременно — не более \(count)). Дождитесь ответа на один из них."
        case (.concurrentRequests, .tenant):
            "Сейчас в этом приложении обрабатывается слишком много вопросов. Попробуйте снова через \(time)."
        case (.concurrentRequests, .address):
            "Сейчас обрабатывается слишком много вопросов из вашей сети. Попробуйте снова через \(time)."
        }
    }

    /// After `через`, in the accusative.
    private static func russian(_ wait: Wait) -> String {
        switch wait {
        case .seconds(let count): "\(count) \(self.form(count, "секунду", "секунды", "секунд"))"
        case .minutes(let count): "\(count) \(self.form(count, "минуту", "минуты", "минут"))"
        case .hours(let count): "\(count) \(self.form(count, "час", "часа", "часов"))"
        }
    }

    /// The form of a noun after a number: as after 1, as after 2, or as after 5.
    private static func form(_ count: Int, _ one: String, _ few: String, _ many: String) -> String {
        switch (count % 10, count % 100) {
        case (_, 11...14): many
        case (1, _): one
        case (2...4, _): few
        default: many
        }
    }
}
