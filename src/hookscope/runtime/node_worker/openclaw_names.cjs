// Names that OpenClaw 2026.9 offers to plugins, read from its package and its api.

"use strict";

const words = (text) => new Set(text.trim().split(/\s+/));

/** Subpaths of `openclaw/plugin-sdk/`. `openclaw/plugin-sdk` itself no longer exists. */
const SUBPATHS = words(`
  access-groups account-core account-helpers account-id account-resolution account-resolution-runtime
  acp-binding-resolve-runtime acp-binding-runtime acp-runtime acp-runtime-backend agent-core agent-harness
  agent-harness-exec-review-runtime agent-harness-registration agent-harness-runtime agent-harness-task-runtime
  agent-harness-tool-runtime agent-media-payload agent-runtime agent-scope-runtime agent-sessions
  agent-workspace-runtime allow-from allowlist-config-edit approval-auth-runtime approval-client-runtime
  approval-delivery-runtime approval-gateway-runtime approval-handler-adapter-runtime approval-handler-runtime
  approval-native-runtime approval-reaction-runtime approval-reference-runtime approval-reply-runtime
  approval-runtime archive async-lock-runtime blob-runtime boolean-param browser-cdp browser-config
  bundled-channel-config-schema channel-actions channel-activity-runtime channel-config-helpers
  channel-config-primitives channel-config-schema channel-config-ui-hints channel-config-writes channel-contract
  channel-core channel-dm-policy channel-entry-contract channel-feedback channel-inbound channel-inbound-debounce
  channel-ingress-runtime channel-join-intro-runtime channel-lifecycle channel-mention-gating channel-message
  channel-outbound channel-pairing channel-plugin-common channel-policy channel-reply-pipeline channel-route
  channel-runtime-context channel-secret-basic-runtime channel-secret-owner-runtime channel-secret-tts-runtime
  channel-send-result channel-setup channel-status channel-streaming-config channel-targets chat-channel-ids
  claude-model-runtime cli-argv cli-backend cli-runtime code-mode-executor-runtime codex-mcp-projection
  codex-session-transcript-runtime collection-runtime command-auth command-auth-native command-detection
  command-primitives-runtime command-status command-status-runtime command-surface computer-use concurrency-runtime
  config-contracts config-mutation config-runtime context-visibility-runtime control-ui control-ui-link-reader
  conversation-binding-inspection-runtime conversation-binding-runtime conversation-runtime core cron-store-runtime
  dangerous-name-runtime decisions dedupe-runtime delivery-queue-runtime device-bootstrap diagnostic-flags
  diagnostic-runtime direct-dm-guard-policy directory-config-runtime directory-runtime discord
  doctor-repair-runtime document-extractor embedding-provider-adapter embedding-provider-runtime-contract
  embedding-providers error-runtime exec-approvals-runtime expect-runtime extension-shared feature-contract
  feature-plugin fetch-runtime file-access-runtime file-lock gateway-config-runtime gateway-method-runtime
  gateway-runtime global-singleton group-activation health heartbeat-runtime hook-runtime host-runtime
  html-entity-runtime image-generation image-generation-core image-generation-runtime inbound-envelope
  inbound-event-delivery inbound-reply-dispatch infra-runtime ingress-effect-once inline-image-data-url-runtime
  interactive-runtime json-schema-runtime json-store json-unsafe-integers keyed-async-queue lazy-runtime llm
  logging-core markdown-table-runtime media-ffmpeg media-generation-runtime media-local-roots media-mime
  media-runtime media-store media-understanding media-understanding-runtime meeting-page-script-runtime
  meeting-runtime memory-core-host-embedding-registry memory-core-host-engine-curated
  memory-core-host-engine-embeddings memory-core-host-engine-foundation memory-core-host-engine-fs
  memory-core-host-engine-indexing memory-core-host-engine-knn memory-core-host-engine-schema
  memory-core-host-engine-sessions memory-core-host-engine-storage memory-core-host-runtime-cli
  memory-core-host-runtime-core memory-core-host-runtime-files memory-core-host-secret memory-core-host-status
  memory-host-core memory-host-events memory-host-markdown memory-host-search message-tool-delivery-hints migration
  migration-runtime model-catalog-pricing model-ref-parse model-session-runtime models-provider-runtime
  music-generation native-command-config-runtime native-command-registry native-hook-relay-runtime node-cli-runtime
  node-host node-selection-runtime number-runtime outbound-echo-runtime outbound-media pair-loop-guard-runtime
  param-readers persistent-dedupe plugin-command-runtime plugin-config-runtime plugin-entry plugin-runtime
  plugin-state-runtime plugin-state-store-runtime poll-runtime process-runtime provider-auth provider-auth-aliases
  provider-auth-api-key provider-auth-login-flow-runtime provider-auth-result provider-auth-runtime
  provider-binary-stream provider-catalog-live-runtime provider-catalog-runtime provider-catalog-shared
  provider-entry provider-env-vars provider-http provider-model-metadata provider-model-shared provider-model-types
  provider-oauth-runtime provider-onboard provider-selection-runtime provider-setup provider-stream
  provider-stream-family provider-stream-shared provider-thinking-runtime provider-tools provider-transport-runtime
  provider-usage provider-web-fetch provider-web-fetch-contract provider-web-search
  provider-web-search-config-contract provider-web-search-contract proxy-capture qa-runner-runtime
  question-gateway-runtime realtime-bootstrap-context realtime-transcription realtime-transcription-session
  realtime-voice realtime-voice-activation realtime-voice-audio-queue realtime-voice-playback
  realtime-voice-provider reply-chunking reply-dispatch-runtime reply-history reply-payload reply-reference
  reply-runtime request-url response-limit-runtime retry-runtime root-walk routing run-command runtime
  runtime-config-snapshot runtime-doctor runtime-doctor-migrations runtime-env runtime-fetch runtime-group-policy
  runtime-store sandbox secret-file secret-file-runtime secret-input secret-input-runtime secret-provider-alias
  secret-ref-readonly secret-ref-runtime secure-random-runtime security-runtime session-binding-runtime
  session-catalog session-catalog-paging session-catalog-runtime session-discussion session-key-runtime
  session-store-paths session-store-runtime session-transcript-hit session-transcript-runtime session-visibility
  setup setup-runtime setup-tools simple-completion-runtime skill-commands-runtime speech speech-core
  speech-provider speech-settings sqlite-runtime sqlite-worker-runtime ssrf-dispatcher ssrf-policy ssrf-runtime
  ssrf-runtime-internal state-paths status-helpers string-coerce-runtime string-normalization-runtime
  system-event-runtime talk-config-runtime target-resolver-runtime telegram-account temp-path text-autolink-runtime
  text-chunking text-grapheme text-utility-runtime thread-bindings-runtime thread-bindings-session-runtime
  time-runtime tool-payload tool-plugin tool-results tool-send transcripts transport-ready-runtime tts-runtime
  types video-generation video-generation-runtime web-content-extractor web-media webhook-ingress
  webhook-request-guards webhook-targets websocket-runtime widget-html windows-spawn worker-task-server
`);

/** Members of the api that `register` receives. */
const MEMBERS = words(`
  id name version description source runtimeSource rootDir registrationMode config pluginConfig runtime logger
  registerCli registerTool registerHook registerHttpRoute registerHostedMediaResolver registerWidgetPresenter
  registerMcpServerConnectionResolver registerChannel registerGatewayMethod registerGatewayAccessPolicy
  registerSessionCatalog registerReload registerNodeHostCommand registerNodeInvokePolicy
  registerSecurityAuditCollector registerService registerGatewayDiscoveryService registerCliBackend
  registerTextTransforms registerConfigMigration registerMigrationProvider registerAutoEnableProbe registerProvider
  registerWorkerProvider registerModelCatalogProvider registerEmbeddingProvider registerSpeechProvider
  registerRealtimeTranscriptionProvider registerRealtimeVoiceProvider registerMediaUnderstandingProvider
  registerTranscriptSourceProvider registerImageGenerationProvider registerVideoGenerationProvider
  registerMusicGenerationProvider registerWebFetchProvider registerWebSearchProvider registerInteractiveHandler
  onConversationBindingResolved registerCommand registerContextEngine registerCompactionProvider
  registerDecisionProvider registerAgentHarness registerCodexAppServerExtensionFactory
  registerAgentToolResultMiddleware registerSessionExtension enqueueNextTurnInjection registerTrustedToolPolicy
  registerToolMetadata registerControlUiDescriptor registerBoardWidgetContentKind registerRuntimeLifecycle
  registerAgentEventSubscription emitAgentEvent setRunContext getRunContext clearRunContext
  registerSessionSchedulerJob registerSessionAction sendSessionAttachment scheduleSessionTurn
  unscheduleSessionTurnsByTag registerDetachedTaskRuntime registerMemoryCapability registerMemoryPromptSupplement
  registerMemoryPromptPreparation registerMemoryCorpusSupplement on registerNodeCliFeature resolvePath session
  agent runContext lifecycle
`);

/** OpenClaw's own commands, whose names plugins must not use. */
const RESERVED_COMMANDS = words(`
  help commands status diagnostics codex whoami context btw stop restart reset new compact config debug allowlist
  activation skill learn loop subagents kill steer tell model models queue send bash exec think verbose reasoning
  elevated usage
`);

module.exports = { SUBPATHS, MEMBERS, RESERVED_COMMANDS };
