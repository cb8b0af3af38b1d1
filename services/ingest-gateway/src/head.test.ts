import { clientAddress } from './head.ts';

const socket = '10.0.0.9';

test.each<[string, Record<string, string>, string]>([
  ['no header', {}, socket],
  ['F20 one address', { 'x-forwarded-for': '1.2.3.4' }, '1.2.3.4'],
  ['F20 IPv6', { 'x-forwarded-for': '2001:db8::1' }, '2001:db8::1'],
  ['F20 with a port', { 'x-forwarded-for': '1.2.3.4:5555' }, '1.2.3.4'],
  ['IPv6 with a port', { 'x-forwarded-for': '[2001:db8::1]:5555' }, '2001:db8::1'],
  ['the leftmost of several', { 'x-forwarded-for': '1.2.3.4, 10.0.0.1, 10.0.0.2' }, '1.2.3.4'],
  ['what is no address is passed over', { 'x-forwarded-for': 'unknown, 1.2.3.4' }, '1.2.3.4'],
  ['Forwarded', { forwarded: 'for=192.0.2.60;proto=http;by=203.0.113.43, for=198.51.100.17' }, '192.0.2.60'],
  ['Forwarded with IPv6', { forwarded: 'For="[2001:db8:cafe::17]:4711"' }, '2001:db8:cafe::17'],
  ['X-Real-IP', { 'x-real-ip': '1.2.3.4' }, '1.2.3.4'],
  ['X-Forwarded-For before X-Real-IP', { 'x-real-ip': '1.2.3.4', 'x-forwarded-for': '5.6.7.8' }, '5.6.7.8'],
  ['an address mapped into IPv6', { 'x-forwarded-for': '::ffff:1.2.3.4' }, '1.2.3.4'],
  ['nonsense everywhere', { 'x-forwarded-for': 'a,b', forwarded: 'for=_hidden', 'x-real-ip': 'x' }, socket],
])('the client address: %s', (_name, headers, expected) => {
  expect(clientAddress(headers, socket, true)).toBe(expected);
});

test('headers are not believed when clients come directly', () => {
  expect(clientAddress({ 'x-forwarded-for': '1.2.3.4', 'x-real-ip': '1.2.3.4' }, '::ffff:10.0.0.9', false)).toBe(
    '10.0.0.9',
  );
});

test('an unknown address is null', () => {
  expect(clientAddress({}, undefined, true)).toBeNull();
});
