import { findClientAddress } from './request-head.ts';

const socket = { remoteAddress: '10.0.0.9' };

test.each<[string, Record<string, string>, string]>([
  ['no header', {}, socket.remoteAddress],
  ['field-020 one address', { 'x-forwarded-for': '1.2.3.4' }, '1.2.3.4'],
  ['field-020 IPv6', { 'x-forwarded-for': '2001:db8::1' }, '2001:db8::1'],
  ['field-020 with a port', { 'x-forwarded-for': '1.2.3.4:5555' }, '1.2.3.4'],
  ['IPv6 with a port', { 'x-forwarded-for': '[2001:db8::1]:5555' }, '2001:db8::1'],
  ['the first of several', { 'x-forwarded-for': '1.2.3.4, 10.0.0.1, 10.0.0.2' }, '1.2.3.4'],
  ['an invalid address is skipped', { 'x-forwarded-for': 'unknown, 1.2.3.4' }, '1.2.3.4'],
  ['Forwarded', { forwarded: 'for=192.0.2.60;proto=http;by=203.0.113.43, for=198.51.100.17' }, '192.0.2.60'],
  ['Forwarded with IPv6', { forwarded: 'For="[2001:db8:cafe::17]:4711"' }, '2001:db8:cafe::17'],
  ['X-Real-IP', { 'x-real-ip': '1.2.3.4' }, '1.2.3.4'],
  ['X-Forwarded-For before X-Real-IP', { 'x-real-ip': '1.2.3.4', 'x-forwarded-for': '5.6.7.8' }, '5.6.7.8'],
  ['an IPv4-mapped IPv6 address', { 'x-forwarded-for': '::ffff:1.2.3.4' }, '1.2.3.4'],
  [
    'only invalid addresses',
    { 'x-forwarded-for': 'a,b', forwarded: 'for=_hidden', 'x-real-ip': 'x' },
    socket.remoteAddress,
  ],
])("determines the client's IP address: %s", (_name, headers, expected) => {
  expect(findClientAddress({ headers, socket }, { trustProxy: true })).toBe(expected);
});

test('ignores proxy headers if clients connect directly', () => {
  const headers = { 'x-forwarded-for': '1.2.3.4', 'x-real-ip': '1.2.3.4' };
  const direct = { headers, socket: { remoteAddress: '::ffff:10.0.0.9' } };
  expect(findClientAddress(direct, { trustProxy: false })).toBe('10.0.0.9');
});

test('returns null for an unknown client IP address', () => {
  expect(findClientAddress({ headers: {}, socket: {} }, { trustProxy: true })).toBeNull();
});
