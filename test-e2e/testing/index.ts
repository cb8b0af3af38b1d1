export { collectAnnouncedKeys } from './announced-keys.ts';
export { type BreakableServer, startBreakableServer } from './breakable-server.ts';
export { type BuiltDirectory, buildOnce } from './build-once.ts';
export { buildRelease, type ReleaseBuild } from './build-release.ts';
export { startClickHouse, type TestClickHouse } from './clickhouse/clickhouse-server.ts';
export { type CompiledPrograms, compilePrograms } from './compile-programs.ts';
export { createConsoleLink } from './console-link.ts';
export { type DnsServer, startDnsServer } from './dns-server.ts';
export { eventually, patienceMs, waitOutHourEnd, waitOutStepEnd } from './eventually.ts';
export {
  createFaultProxy,
  type FaultProxy,
  type PoolerWithoutListen,
  startPoolerWithoutListen,
} from './fault-proxy.ts';
export { findChromium, findFirefox } from './find-browser.ts';
export { createHostileBodies as hostileBodies, type HostileBody } from './hostile-json.ts';
export {
  type HostileServer,
  type SocketScript,
  startHostileServer,
  writeFast,
  writeSlowly,
} from './hostile-servers/hostile-server.ts';
export {
  brokenTls,
  type HttpMisbehavior,
  httpMisbehaviors,
  runAfterHeaders as afterHeaders,
} from './hostile-servers/http-misbehaviors.ts';
export { installClickHouse, installClickHouseOrNull } from './install-tools.ts';
export { type KafkaFaultProxy, startKafkaFaultProxy } from './kafka-proxy/kafka-fault-proxy.ts';
export { keepLogs } from './keep-logs.ts';
export { type MailServer, type ReceivedMail, startMailServer } from './mail-server.ts';
export { sampleOf, seededRandom, storySize, testSeed } from './seeded-random.ts';
export { sendEvents } from './send-events.ts';
export { type ServiceProcess, startService } from './service-process.ts';
export { startServer, type TestServer } from './start-server.ts';
export { computeExpectedState as expectedState, type ExpectedState } from './story/expected-state.ts';
export { readStoredState as storedState, type StoredState } from './story/stored-state.ts';
export type { StoryEvent } from './story/write-story.ts';
export { writeStory } from './story/write-story.ts';
export { testCacheDirectory } from './test-cache-directory.ts';
export { type MountedSecret, mountSecret, type TestCertificate, testCertificates } from './test-certificates.ts';
export { createTestDatabase, prismaDirectory, type TestDatabase } from './test-database.ts';
export { type TestServers, testServers, uniqueTopicPrefix } from './test-servers.ts';
export {
  createTestEnvironment,
  createTestOrganization,
  createTestProject,
  createTestTenant,
  setTestPlan,
  type TestTenant,
  type TestTenantOverrides,
} from './test-tenant.ts';
export { startTlsProxy, type TlsProxy } from './tls-proxy.ts';
export { listTrackedFiles as trackedFiles } from './tracked-files.ts';
export { typeScriptProcess } from './type-script-process.ts';
export { workerFixture } from './worker-fixture.ts';
