// Starts several event consumers, which a chaos test kills and freezes.

import type { ServiceProcess } from '@millrace/testing';
import type { Print } from '../harness/command.ts';

export type ConsumerPool = ReturnType<typeof createConsumerPool>;

/** Creates a pool of consumers. It restarts a consumer that ends unexpectedly, as an orchestrator does. */
export function createConsumerPool(start: () => Promise<ServiceProcess>, print: Print) {
  const running: ServiceProcess[] = [];
  const wanted = new Set<ServiceProcess>();

  async function startOne(): Promise<void> {
    const consumer = await start();
    running.push(consumer);
    wanted.add(consumer);
    void consumer.ended.then(async (code) => {
      if (!wanted.delete(consumer)) return;
      print(`  a consumer exited unexpectedly with ${code}. Its output:\n${consumer.output().slice(-2000)}`);
      running.splice(running.indexOf(consumer), 1);
      await startOne();
    });
  }

  async function end(consumers: readonly ServiceProcess[], how: 'kill' | 'stop'): Promise<void> {
    for (const consumer of consumers) {
      wanted.delete(consumer);
      running.splice(running.indexOf(consumer), 1);
    }
    await Promise.all(consumers.map((consumer) => consumer[how]()));
  }

  return {
    size: () => running.length,
    async add(count: number): Promise<void> {
      await Promise.all(Array.from({ length: count }, startOne));
    },
    kill(indexes: readonly number[]): Promise<void> {
      const chosen = running.filter((_, index) => indexes.includes(index));
      return end(chosen, 'kill');
    },
    /** A frozen consumer keeps its partitions. */
    freeze: (index: number) => running[index]?.freeze(),
    thaw(): void {
      for (const consumer of running) consumer.thaw();
    },
    dismiss: (count: number) => end(running.slice(-count), 'stop'),
  };
}
