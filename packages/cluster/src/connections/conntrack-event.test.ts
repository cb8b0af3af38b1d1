import { parseConntrackEvent } from './conntrack-event.ts';

test.each([
  [
    'one to a service leads to the pod that answers',
    '[1795381453.874235]\t    [NEW] tcp      6 120 SYN_SENT src=10.244.1.2 dst=10.96.0.10 sport=59282 dport=80 [UNREPLIED] src=10.244.2.7 dst=10.244.1.2 sport=8000 dport=59282',
    { from: '10.244.1.2', to: '10.244.2.7', port: 8000, protocol: 'TCP' },
  ],
  [
    'one that leaves with the address of the node is from the pod',
    '[1795381453.874235]\t    [NEW] tcp      6 120 SYN_SENT src=10.244.1.2 dst=198.18.0.1 sport=57828 dport=9092 [UNREPLIED] src=198.18.0.1 dst=198.18.0.2 sport=9092 dport=1024',
    { from: '10.244.1.2', to: '198.18.0.1', port: 9092, protocol: 'TCP' },
  ],
  [
    'a question for a name has no state',
    '[1795381453.874235]\t    [NEW] udp      17 30 src=10.244.1.2 dst=198.18.0.53 sport=54720 dport=53 [UNREPLIED] src=198.18.0.53 dst=10.244.1.2 sport=53 dport=54720',
    { from: '10.244.1.2', to: '198.18.0.53', port: 53, protocol: 'UDP' },
  ],
])('%s', (_, line, connection) => {
  expect(parseConntrackEvent(line)).toEqual({ ...connection, at: 1_795_381_453_874 });
});

test.each([
  'NOTICE: Netlink socket buffer size has been set to 16777216 bytes.',
  '[1795381453.874235]\t    [NEW] icmp     1 30 src=10.244.1.2 dst=198.18.0.1 type=8 code=0 id=1 [UNREPLIED] src=198.18.0.1 dst=10.244.1.2 type=0 code=0 id=1',
  '',
])('%j is no connection', (line) => {
  expect(parseConntrackEvent(line)).toBeNull();
});
