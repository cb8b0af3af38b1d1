// Chaos test of the event consumers: disrupts them and their servers under load.

import { createFaultProxy, seededRandom, startKafkaFaultProxy } from '@millrace/testing';
import type { Print } from '../harness/command.ts';
import {
  type ChaosOptions,
  type ChaosRun,
  reportPhases,
  runFaultPhases,
  selectFaults,
  startChaosRun,
} from './chaos-run.ts';
import { withChaosSystem } from './chaos-system.ts';
import { createConsumerFaults } from './consumer-faults.ts';
import { createConsumerPool } from './consumer-pool.ts';

export interface ConsumerChaosOptions extends ChaosOptions {
  /** Names of the faults to cause. An empty list selects all faults. */
  only: string[];
}

const consumers = 4;
const patienceMs = 60_000;
/** Millrace guarantees that no partition stalls for longer than this (in milliseconds) after a fault ends. */
const stallLimitMs = 10_000;

/** Disrupts four consumers and their servers. Returns true if the stored state is correct after each fault. */
export function runConsumerChaos({ only, ...options }: ConsumerChaosOptions, print: Print): Promise<boolean> {
  return withChaosSystem(print, {}, async (system) => {
    const address = new URL(system.postgres.address);
    const postgresProxy = await createFaultProxy({ targetHost: address.hostname, targetPort: Number(address.port) });
    system.onEnd(postgresProxy.stop);
    const kafkaProxy = await startKafkaFaultProxy([system.kafka.address]);
    system.onEnd(kafkaProxy.stop);
    const { host: hostname, port } = postgresProxy;
    const settings = {
      DATABASE_URL: Object.assign(address, { hostname, port: String(port) }).toString(),
      KAFKA_BROKERS: kafkaProxy.brokers.join(','),
    };
    let gateway = await system.startGateway(0);
    const gatewayUrl = `http://127.0.0.1:${gateway.port}`;
    let eventLog = 'kafka';
    const pool = createConsumerPool(() => system.startConsumer({ ...settings, EVENT_LOG: eventLog }), print);
    system.onEnd(async () => {
      pool.thaw();
      await pool.dismiss(pool.size());
    });
    await pool.add(consumers);

    let run: ChaosRun;
    const faults = selectFaults(
      createConsumerFaults({
        system,
        pool,
        poolSize: consumers,
        postgresProxy,
        kafkaProxy,
        random: seededRandom(options.seed),
        run: () => run,
        async useLog(kind) {
          eventLog = kind;
          await gateway.stop();
          gateway = await system.startGateway(gateway.port, { EVENT_LOG: kind });
        },
      }),
      only,
    );
    run = await startChaosRun(system, { ...options, phases: faults.length, urls: [gatewayUrl] }, print);
    // The time that new consumers need to form their groups does not count as a stall.
    run.load.resume();
    run.watch.faultEnds();
    if (!(await run.watch.untilMoved(patienceMs))) throw new Error('The consumers are not processing any records.');
    return reportPhases(await runFaultPhases(run, faults), print, { stallLimitMs });
  });
}
