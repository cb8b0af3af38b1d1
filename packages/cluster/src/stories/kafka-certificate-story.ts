import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { recovery } from '@millrace/bench/src/chaos/client-load.ts';
import { eventually } from '@millrace/testing';
import { expiredPods } from './expired-pods.ts';
import { measureStory } from './measure-story.ts';
import type { Story, StoryContext } from './story.ts';

const expiredForMs = 20_000;
const year = 365 * 24 * 3600 * 1000;

/** The broker comes back with a certificate that has run out: nobody who checks it gets to it, until it has a new one. */
export const kafkaCertificateStory: Story = {
  name: "Kafka's certificate expires",
  run: (context) =>
    measureStory('kafka-certificate', context.setting, async (load) => {
      const { release } = context;
      await serve(context, new Date(Date.now() - 60_000), 'CERT_HAS_EXPIRED');
      await sleep(expiredForMs);
      const said = [
        await expiredPods(release, 'gateway', 'gateways'),
        await expiredPods(release, 'consumer-live', 'consumers'),
      ];
      await serve(context, new Date(Date.now() + year), null);
      const served = await recovery(load);
      await release.settled();
      return `expired for ${expiredForMs / 1000} s with all connections lost: ${said.join('; ')}; every client served again ${Math.round(served / 1000)} s after the new one, all pods ready without a restart by hand`;
    }),
};

/** @param refusal what a client that checks is told from then on; null when it is let in */
async function serve({ stores }: StoryContext, validUntil: Date, refusal: string | null): Promise<void> {
  const { kafka, kafkaByTls, certificates } = stores;
  await certificates.kafka.replace(validUntil);
  // A broker reads it when it starts.
  await kafka.kill();
  await kafka.restart();
  await eventually(async () => (await refusalOf(kafkaByTls, certificates.kafka.authority)) === refusal, {
    what: `the certificate until ${validUntil.toISOString()}`,
  });
}

async function refusalOf(address: string, authority: string): Promise<string | null> {
  const [host, port] = address.split(':');
  const socket = connect({ host, port: Number(port), ca: readFileSync(authority) });
  try {
    return await new Promise((resolve) => {
      socket.once('secureConnect', () => resolve(null));
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });
  } finally {
    socket.destroy();
  }
}
