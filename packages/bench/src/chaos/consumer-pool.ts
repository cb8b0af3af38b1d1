import type { ServiceProcess } from '@millrace/testing';

/** Consumers of one group, kept running as an orchestrator does: one that ends by itself is started again. */
export interface ConsumerPool {
  size(): number;
  /** Starts so many more and resolves when they run. */
  add(count: number): Promise<void>;
  /** SIGKILL for the ones at these indexes. */
  kill(indexes: readonly number[]): Promise<void>;
  /** SIGSTOP for the one at this index, which keeps all it holds. */
  freeze(index: number): void;
  /** SIGCONT for whoever is stopped. */
  thaw(): void;
  /** Where they answer health checks. */
  ports(): number[];
  /** SIGTERM for the last so many. */
  dismiss(count: number): Promise<void>;
  /** How often one has ended although nobody asked it to. */
  endedByThemselves(): number;
  /** The end of what each of them logged. */
  output(): string[];
  stop(): Promise<void>;
}

export function createConsumerPool(start: () => Promise<ServiceProcess>, print: (line: string) => void): ConsumerPool {
  const running: ServiceProcess[] = [];
  const wanted = new Set<ServiceProcess>();
  let surprises = 0;

  async function startOne(): Promise<void> {
    const consumer = await start();
    running.push(consumer);
    wanted.add(consumer);
    void consumer.ended.then(async (code) => {
      if (!wanted.delete(consumer)) return;
      print(`  a consumer exited on its own with ${code}. It said:\n${consumer.output().slice(-2000)}`);
      surprises += 1;
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
    async add(count) {
      await Promise.all(Array.from({ length: count }, startOne));
    },
    kill: (indexes) =>
      end(
        running.filter((_, index) => indexes.includes(index)),
        'kill',
      ),
    freeze: (index) => running[index]?.freeze(),
    thaw() {
      for (const consumer of running) consumer.thaw();
    },
    ports: () => running.map(({ port }) => port),
    dismiss: (count) => end(running.slice(-count), 'stop'),
    endedByThemselves: () => surprises,
    output: () => running.map((consumer) => consumer.output().slice(-2000)),
    async stop() {
      for (const consumer of running) consumer.thaw();
      await end([...running], 'stop');
    },
  };
}
