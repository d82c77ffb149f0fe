// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// One set of compiler rules for every target: Swift 6 mode, explicit existentials, imports that stay inside the
/// file, async helpers that run where their caller runs, and warnings that stop the build.
let rules: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// Fuzzers are built on demand: `make fuzz` sets the variable, since libFuzzer brings its own main function.
let isFuzzing = ProcessInfo.processInfo.environment["ASKGATE_FUZZ"] != nil

func library(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    // Only what is instrumented tells the fuzzer where an input has led.
    let coverage: [SwiftSetting] = isFuzzing ? [.unsafeFlags(["-sanitize=fuzzer", "-parse-as-library"])] : []
    return .target(name: name, dependencies: dependencies, swiftSettings: rules + coverage)
}

func border(_ name: String) -> Target { .systemLibrary(name: name, path: "Sources/\(name)") }

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: rules)
}

/// Layers from the ground up; `Scripts/check-imports` holds every import to this list.
var targets: [Target] = [
    // 0: C borders (module map and header of static inline shims)
    border("CUV"), border("COpenSSL"), border("CHiredis"), border("CCurl"), border("CZlib"), border("CYAML"),
    border("CJansson"), border("CJWT"),
    // 1: pure values and codecs
    library("GatewayTypes", []),
    library("JSON", ["GatewayTypes"]),
    library("HTTPCodec", ["GatewayTypes"]),
    library("JOSE", ["COpenSSL", "CJWT", "JSON"]),
    library("TLS", ["COpenSSL", "GatewayTypes"]),
    // 2: input and output
    library("EventLoops", ["CUV", "GatewayTypes"]),
    library("Observability", ["GatewayTypes"]),
    library("HTTPServer", ["EventLoops", "GatewayTypes", "HTTPCodec"]),
    library("HTTPClient", ["CCurl", "CZlib", "EventLoops", "GatewayTypes", "HTTPCodec"]),
    library("RedisClient", ["CHiredis", "EventLoops", "GatewayTypes", "TLS"]),
    // 3: stages
    library("Authentication", ["EventLoops", "GatewayTypes", "HTTPClient", "JOSE", "JSON"]),
    .target(
        name: "Quota", dependencies: ["EventLoops", "GatewayTypes", "JOSE", "RedisClient"],
        resources: [.embedInCode("Redis/Scripts")], swiftSettings: rules),
    library("Routing", ["GatewayTypes"]),
    library("Asking", ["EventLoops", "GatewayTypes", "HTTPClient", "HTTPCodec", "JSON"]),
    // 4: joining
    library(
        "Gateway",
        [
            "Asking", "Authentication", "EventLoops", "GatewayTypes", "HTTPClient", "HTTPCodec", "HTTPServer", "JOSE",
            "JSON", "Observability", "Quota", "Routing",
        ]),
    // 5: around it
    library(
        "Configuration",
        [
            "CYAML", "Asking", "Authentication", "Gateway", "GatewayTypes", "HTTPClient", "HTTPCodec", "HTTPServer",
            "JOSE", "Observability", "Quota", "RedisClient", "Routing", "TLS",
        ]),
    .target(
        name: "AdminAPI",
        dependencies: [
            "Authentication", "EventLoops", "Gateway", "GatewayTypes", "HTTPCodec", "HTTPServer", "JOSE", "JSON",
            "Observability", "Quota",
        ],
        resources: [.embedInCode("admin.openapi.yaml")], swiftSettings: rules),
    // 6: the program
    .executableTarget(
        name: "askgate",
        dependencies: [
            "AdminAPI", "Asking", "Authentication", "Configuration", "EventLoops", "Gateway", "GatewayTypes",
            "HTTPClient", "HTTPCodec", "HTTPServer", "JOSE", "JSON", "Observability", "Quota", "RedisClient", "Routing",
            "TLS",
        ],
        resources: [.embedInCode("development.yaml")], swiftSettings: rules),
    // beside
    library("GatewayTesting", ["GatewayTypes", "JOSE", "JSON"]),
    // tests, one target for each
    tests("GatewayTypesTests", ["GatewayTypes"]),
    // jansson is the second opinion of the reader, and in no program
    tests("JSONTests", ["CJansson", "JSON", "GatewayTesting"]),
    tests("HTTPCodecTests", ["HTTPCodec", "GatewayTesting"]),
    tests("JOSETests", ["JOSE", "JSON", "GatewayTesting"]),
    tests("EventLoopsTests", ["EventLoops", "GatewayTypes"]),
    tests("TLSTests", ["TLS", "GatewayTypes", "GatewayTesting"]),
    tests("ObservabilityTests", ["Observability", "GatewayTypes"]),
    tests("HTTPServerTests", ["HTTPServer", "HTTPCodec", "EventLoops", "GatewayTypes", "GatewayTesting"]),
    tests("HTTPClientTests", ["HTTPClient", "EventLoops", "GatewayTypes", "GatewayTesting"]),
    tests("RedisClientTests", ["RedisClient", "EventLoops", "TLS", "GatewayTypes", "GatewayTesting"]),
    tests(
        "AuthenticationTests",
        ["Authentication", "EventLoops", "HTTPClient", "JOSE", "JSON", "GatewayTypes", "GatewayTesting"]),
    tests("QuotaTests", ["Quota", "EventLoops", "RedisClient", "TLS", "GatewayTypes", "GatewayTesting"]),
    tests("RoutingTests", ["Routing", "GatewayTypes"]),
    tests("AskingTests", ["Asking", "EventLoops", "HTTPClient", "JSON", "GatewayTypes", "GatewayTesting"]),
    tests("ConfigurationTests", ["Asking", "Configuration", "Gateway", "GatewayTypes", "Quota", "Routing"]),
    tests(
        "GatewayTests",
        ["Asking", "EventLoops", "Gateway", "GatewayTypes", "GatewayTesting", "HTTPCodec", "Quota", "Routing"]),
    tests(
        "AdminAPITests",
        [
            "AdminAPI", "Authentication", "EventLoops", "Gateway", "HTTPServer", "JOSE", "JSON", "Observability",
            "Quota", "GatewayTypes", "GatewayTesting",
        ]),
    tests("IntegrationTests", ["GatewayTesting", "GatewayTypes", "JOSE", "JSON"]),
]

if isFuzzing {
    let fuzzers: [(String, [Target.Dependency])] = [
        ("FuzzRequestParser", ["HTTPCodec"]), ("FuzzChunkedDecoder", ["HTTPCodec"]), ("FuzzEventParser", ["HTTPCodec"]),
        ("FuzzResponse", ["HTTPCodec"]),
        ("FuzzToken", ["Authentication", "GatewayTypes", "JOSE", "JSON"]), ("FuzzConfiguration", ["Configuration"]),
        ("FuzzJSON", ["CJansson", "JSON"]), ("FuzzOpenAI", ["DialectFuzzing"]),
        ("FuzzAnthropic", ["DialectFuzzing"]), ("FuzzGemini", ["DialectFuzzing"]),
        ("FuzzAskBody", ["Gateway", "GatewayTypes", "Routing"]),
        ("FuzzForwarded", ["EventLoops", "Gateway", "GatewayTypes", "HTTPCodec"]),
    ]
    // how they start, and what those of the dialects check
    targets.append(.target(name: "FuzzDriver", path: "Fuzz/Driver", swiftSettings: rules))
    targets.append(
        .target(
            name: "DialectFuzzing", dependencies: ["Asking", "GatewayTypes", "HTTPClient"], path: "Fuzz/Dialects",
            swiftSettings: rules))
    for (name, dependencies) in fuzzers {
        targets.append(
            .executableTarget(
                name: name, dependencies: ["FuzzDriver"] + dependencies, path: "Fuzz/\(name)",
                swiftSettings: rules + [.unsafeFlags(["-parse-as-library", "-sanitize=fuzzer"])],
                linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]))
    }
}

let package = Package(
    name: "askgate",
    products: [
        .executable(name: "askgate", targets: ["askgate"]),
        .library(name: "Asking", targets: ["Asking"]),
    ],
    targets: targets)
