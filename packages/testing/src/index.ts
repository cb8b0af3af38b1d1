export { type CompiledPrograms, compilePrograms } from './compile-programs.ts';
export { type DnsServer, startDnsServer } from './dns-server.ts';
export { eventually } from './eventually.ts';
export { createFaultProxy, type FaultProxy } from './fault-proxy.ts';
export { type MailServer, type ReceivedMail, startMailServer } from './mail-server.ts';
export { createTestDatabase, prismaDirectory, type TestDatabase } from './test-database.ts';
export { type TestServers, testServers } from './test-servers.ts';
export { createTestTenant, type TestTenant, type TestTenantOverrides } from './test-tenant.ts';
export { uniqueTopicPrefix } from './unique-topic-prefix.ts';
