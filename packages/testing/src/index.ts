export { createTestDatabase, prismaDirectory, type TestDatabase } from './test-database.ts';
export { type TestServers, testServers } from './test-servers.ts';
