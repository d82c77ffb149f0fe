import GatewayTypes

extension ErrorMessages {
    static func persian(_ code: ErrorCode) -> String {
        switch code {
        case .invalidRequest: "درخواست قابل پردازش نبود. لطفاً دوباره تلاش کنید."
        case .unknownTask: "این قابلیت در دسترس نیست."
        case .textTooShort: "متن خیلی کوتاه است. لطفاً کمی بیشتر بنویسید."
        case .modelNotSelectable: "انتخاب مدل در اینجا ممکن نیست. لطفاً درخواست را بدون آن بفرستید."
        case .unauthenticated: "لطفاً دوباره وارد حساب خود شوید."
        case .taskNotInPlan: "اشتراک شما این قابلیت را شامل نمی‌شود."
        case .subjectBlocked: "دسترسی شما متوقف شده است. لطفاً با پشتیبانی تماس بگیرید."
        case .insufficientScope: "شما اجازهٔ انجام این کار را ندارید."
        case .notFound: "مورد درخواستی پیدا نشد."
        case .methodNotAllowed: "این کار در اینجا ممکن نیست."
        case .requestTimeout: "ارسال درخواست بیش از حد طول کشید. لطفاً اتصال اینترنت را بررسی و دوباره تلاش کنید."
        case .unsupportedMediaType: "این نوع محتوا پشتیبانی نمی‌شود."
        case .headersTooLarge: "حجم درخواست بیش از حد مجاز است."
        case .textTooLong: "متن بیش از حد طولانی است. لطفاً آن را کوتاه‌تر کنید."
        case .bodyTooLarge: "حجم درخواست بیش از حد مجاز است. لطفاً آن را کوتاه‌تر کنید."
        case .guestSessionClaimed: "این نشست مهمان قبلاً به حساب دیگری پیوسته است."
        case .questionCancelled: "این پرسش لغو شد."
        case .questionGone: "این پاسخ دیگر در دسترس نیست. لطفاً دوباره بپرسید."
        case .instanceUnreachable: "در حال حاضر به این پاسخ دسترسی نیست. لطفاً کمی بعد دوباره تلاش کنید."
        case .idempotencyInProgress: "پاسخ این پرسش هنوز در راه است. لطفاً کمی صبر کنید."
        case .idempotencyMismatch: "این درخواست با درخواست پیشین یکی نیست. لطفاً دوباره بفرستید."
        case .idempotencyFinished: "به این پرسش پیش‌تر پاسخ داده شده است. لطفاً دوباره بپرسید."
        case .tooManyFailedAuthentications:
            "تلاش‌های ناموفق زیادی از شبکهٔ شما انجام شده است. لطفاً یک دقیقهٔ دیگر دوباره تلاش کنید."
        case .requestsPerMinuteExceeded: "تعداد پرسش‌های شما زیاد بود. لطفاً یک دقیقهٔ دیگر دوباره تلاش کنید."
        case .tokensPerDayExceeded: "سهمیهٔ امروز تمام شده است. لطفاً فردا دوباره سر بزنید."
        case .concurrentRequestsExceeded: "پرسش‌های زیادی در حال انجام است. لطفاً تا پایان یکی از آن‌ها صبر کنید."
        case .providerFailed: "سرویس هوش مصنوعی نتوانست پاسخ دهد. لطفاً بعداً دوباره تلاش کنید."
        case .providerEmptyAnswer: "سرویس هوش مصنوعی پاسخی نداد. لطفاً دوباره تلاش کنید."
        case .providerTimeout: "پاسخ سرویس هوش مصنوعی بیش از حد طول کشید. لطفاً دوباره تلاش کنید."
        case .providerOverloaded: "سرویس هوش مصنوعی بسیار شلوغ است. لطفاً کمی بعد دوباره تلاش کنید."
        case .quotaStoreUnavailable: "سرویس موقتاً در دسترس نیست. لطفاً کمی بعد دوباره تلاش کنید."
        case .identityUnavailable: "در حال حاضر بررسی حساب شما ممکن نیست. لطفاً کمی بعد دوباره تلاش کنید."
        case .overloaded: "سرویس بسیار شلوغ است. لطفاً کمی بعد دوباره تلاش کنید."
        case .draining: "سرویس در حال راه‌اندازی مجدد است. لطفاً کمی بعد دوباره تلاش کنید."
        case .internalError: "مشکلی از سمت ما پیش آمد. لطفاً دوباره تلاش کنید."
        }
    }

    static func persian(_ limit: Limit, _ wait: Wait) -> String {
        let time = self.persian(wait)
        let retry = "لطفاً \(time) دیگر دوباره تلاش کنید."
        let renewal = "سهمیهٔ بعدی \(time) دیگر در دسترس خواهد بود."
        let count = self.persianDigits(limit.quantity)
        return switch (limit.kind, limit.scope) {
        case (.requestsPerMinute, .subject): "به سقف \(count) پرسش در دقیقه رسیده‌اید. \(retry)"
        case (.requestsPerMinute, .tenant): "در حال حاضر پرسش‌های زیادی از طریق این برنامه ارسال می‌شود. \(retry)"
        case (.requestsPerMinute, .address): "در دقیقهٔ گذشته پرسش‌های زیادی از شبکهٔ شما ارسال شده است. \(retry)"
        case (.tokensPerDay, .subject): "سهمیهٔ امروز شما تمام شده است. \(renewal)"
        case (.tokensPerDay, .tenant): "سهمیهٔ امروز این برنامه تمام شده است. \(renewal)"
        case (.tokensPerDay, .address): "سهمیهٔ امروز شبکهٔ شما تمام شده است. \(renewal)"
        case (.concurrentRequests, .subject):
            "هم‌زمان می‌توانید حداکثر \(count) پرسش در حال انجام داشته باشید. لطفاً تا پایان یکی از آن‌ها صبر کنید."
        case (.concurrentRequests, .tenant): "در حال حاضر پرسش‌های زیادی در این برنامه در حال انجام است. \(retry)"
        case (.concurrentRequests, .address): "در حال حاضر پرسش‌های زیادی از شبکهٔ شما در حال انجام است. \(retry)"
        }
    }

    private static func persian(_ wait: Wait) -> String {
        switch wait {
        case .seconds(let count): "\(self.persianDigits(count)) ثانیه"
        case .minutes(let count): "\(self.persianDigits(count)) دقیقه"
        case .hours(let count): "\(self.persianDigits(count)) ساعت"
        }
    }

    /// The number in Persian digits (U+06F0 to U+06F9).
    private static func persianDigits(_ number: Int) -> String {
        var text = String.UnicodeScalarView()
        for byte in String(max(number, 0)).utf8 {
            if let digit = Unicode.Scalar(0x06F0 + UInt32(byte & 15)) { text.append(digit) }
        }
        return String(text)
    }
}
