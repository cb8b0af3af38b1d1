// `npm run chaos`: disrupts servers and services under load, and checks that no event is lost or duplicated.

import { testSeed } from '@millrace/testing';
import { createCommand, runCommand } from '../harness/command.ts';
import { runConsumerChaos } from './consumer-chaos.ts';
import { runGatewayChaos } from './gateway-chaos.ts';
import { runRestoreChaos } from './restore-chaos.ts';
import { runUpgradeChaos } from './upgrade-chaos.ts';

const about = `Starts its own PostgreSQL, Kafka (Java 17 or later) and Redis, and the compiled services. Breaks each of them in turn under load, for
--seconds per phase, and compares the acknowledged events with the stored events. Exits with code 1 if any event is lost,
duplicated or wrong.

gateway, consumer  break the servers that the gateways or the consumers use, and the services
upgrade            builds the git revision --from, starts it, and upgrades it to this version and back, service by service
restore            deletes the data of PostgreSQL and restores it from a base backup and its archive, while the gateways keep
                   acknowledging events

--only             names of faults, separated by commas; all by default
--fallback         runs the gateways with EVENT_LOG_FALLBACK=postgres
--seed N           reproduces the random choices of an earlier run, which prints its seed (default: MILLRACE_SEED)`;

const seed = testSeed();
await runCommand('chaos', about, {
  gateway: createCommand(runGatewayChaos, { seconds: 120, only: [], seed, rate: 400, fallback: false }),
  consumer: createCommand(runConsumerChaos, { seconds: 120, only: [], seed, rate: 400 }),
  upgrade: createCommand(runUpgradeChaos, { seconds: 15, from: '', seed, rate: 400 }),
  restore: createCommand(runRestoreChaos, { seconds: 60, seed, rate: 400 }),
});
// Exit explicitly, because a kafkajs client that lost its connection might retry indefinitely.
process.exit();
