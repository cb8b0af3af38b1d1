import { parseArgs } from 'node:util';
import { benchConsumer } from './consumer-bench.ts';
import { benchGateway } from './gateway-bench.ts';

const usage = `Usage: pnpm bench gateway  [--pairs 3] [--seconds 4] [--connections 32]
       pnpm bench consumer [--pairs 3] [--events 60000]

Needs DATABASE_URL, KAFKA_BROKERS and REDIS_URL (a PostgreSQL superuser, real servers; nothing of theirs is touched).
Both compare with the naive stack in packages/bench/src/naive, turn about, and print targets with their verdicts.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    pairs: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    connections: { type: 'string', default: '32' },
    events: { type: 'string', default: '60000' },
  },
});
const print = (line: string) => console.log(line);

switch (positionals[0]) {
  case 'gateway':
    await benchGateway(
      { pairs: Number(values.pairs), seconds: Number(values.seconds), connections: Number(values.connections) },
      print,
    );
    break;
  case 'consumer':
    await benchConsumer({ pairs: Number(values.pairs), events: Number(values.events) }, print);
    break;
  default:
    console.error(usage);
    process.exitCode = 2;
}
