import { Resolver } from 'node:dns/promises';
import { type DnsServer, startDnsServer } from './dns-server.ts';
import { patienceMs } from './eventually.ts';

let server: DnsServer;
let resolver: Resolver;
let shortTimeoutResolver: Resolver;
beforeAll(async () => {
  server = await startDnsServer();
  resolver = new Resolver({ timeout: patienceMs, tries: 1 });
  shortTimeoutResolver = new Resolver({ timeout: 300, tries: 1 });
  for (const one of [resolver, shortTimeoutResolver]) one.setServers([server.address]);
});
afterAll(() => server.stop());

test('returns TXT records with all of their strings', async () => {
  server.setTxt('Example.com', [['one'], ['two', 'x'.repeat(255)]]);
  expect(await resolver.resolveTxt('example.com')).toEqual([['one'], ['two', 'x'.repeat(255)]]);
  expect(server.questions).toContain('example.com');
});

test('simulates an unknown name, a name without TXT records, a failing server and an unresponsive server', async () => {
  await expect(resolver.resolveTxt('unknown.example')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  server.setTxt('empty.example', []);
  await expect(resolver.resolveTxt('empty.example')).rejects.toMatchObject({ code: 'ENODATA' });
  server.fail('SERVFAIL');
  await expect(resolver.resolveTxt('example.com')).rejects.toMatchObject({ code: 'ESERVFAIL' });
  server.fail('silence');
  await expect(shortTimeoutResolver.resolveTxt('example.com')).rejects.toMatchObject({ code: 'ETIMEOUT' });
  server.fail(null);
  expect(await resolver.resolveTxt('empty.example').catch(({ code }) => code)).toBe('ENODATA');
});
