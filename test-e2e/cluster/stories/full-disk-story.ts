import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { measureRecovery } from './judge-load.ts';
import { measureStory, type Story } from './story.ts';

const fullForMs = 20_000;

/** The broker's disk fills up and the broker stops. The story frees space, and the broker restarts. */
export const fullDiskStory: Story = {
  name: 'full disk on the broker',
  run: ({ stores, setting }) =>
    measureStory('disk', setting, async (load) => {
      const ballast = join(stores.kafkaDisk, 'ballast');
      fill(ballast);
      await sleep(fullForMs);
      const hasStopped = !stores.kafka.isRunning();
      rmSync(ballast);
      await stores.kafka.kill();
      await stores.kafka.restart();
      const served = await measureRecovery(load);
      return `The disk was full for ${fullForMs / 1000} s. The broker ${hasStopped ? 'stopped' : 'continued'} and was restarted. All clients were served ${Math.round(served / 1000)} s after that.`;
    }),
};

function fill(file: string): void {
  const descriptor = openSync(file, 'w');
  try {
    for (let size = 1 << 20; size > 0; size >>= 1) {
      while (hasRoom(descriptor, size)) {}
    }
  } finally {
    closeSync(descriptor);
  }
}

function hasRoom(descriptor: number, size: number): boolean {
  try {
    return writeSync(descriptor, Buffer.alloc(size)) === size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false;
    throw error;
  }
}
