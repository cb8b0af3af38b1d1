import { type ProjectChanges, unsubscribedMaxAgeMs } from '@millrace/db/sql';
import { LRUCache } from 'lru-cache';

/** Something that is made of an environment's definitions. */
export interface Versioned<Value> {
  /** The version of the definitions. */
  version: string;
  value: Value;
  /** What it takes of the memory, roughly. */
  bytes: number;
}

export interface VersionedMemory<Value> {
  /**
   * As it was a second ago at the latest, or, while the database is away, as it was known last. Without a promise where
   * memory knows it: nearly always.
   * @throws whatever `load` throws, when nothing is known.
   */
  get(environmentId: number): Value | Promise<Value>;
  usedBytes(): number;
}

export interface VersionedMemoryOptions<Value> {
  changes: Pick<ProjectChanges, 'subscribe' | 'isSubscribed'>;
  /** What is used least goes first. */
  maxBytes: number;
  load(environmentId: number): Promise<Versioned<Value>>;
  findVersion(environmentId: number): Promise<string>;
  /** Told what came of each question to the database. */
  onAsked(outcome: 'loaded' | 'unchanged' | 'failed'): void;
}

interface Remembered<Value> extends Versioned<Value> {
  /** When it was known to be the newest. */
  checkedAtMs: number;
  /** When asking for it failed last. */
  failedAtMs: number;
  /** A change of it was announced. */
  isOutdated: boolean;
}

/** While changes are heard: a message may be lost all the same. */
const trustedForMs = 60_000;
/** Who waits for news of what is known already waits this long. */
const patienceMs = 200;
/** A database that is away is not asked again sooner. */
const restAfterFailureMs = 1000;

/**
 * Remembers what is made of definitions until they change: a change is announced, and while announcements are not heard the
 * version is asked for every second. Those who need the same share one question.
 */
export function createVersionedMemory<Value>(options: VersionedMemoryOptions<Value>): VersionedMemory<Value> {
  const { changes, maxBytes, load, findVersion, onAsked } = options;
  const memory = createMemory<Value>(maxBytes);
  const underWay = new Map<number, Promise<Value>>();
  let mayHaveChangedBeforeMs = Number.NEGATIVE_INFINITY;

  changes.subscribe((change) => {
    if (change === null) {
      mayHaveChangedBeforeMs = performance.now();
      underWay.clear();
    } else if (change.isOfFlags && change.environmentId !== null) {
      const remembered = memory.peek(change.environmentId);
      if (remembered !== undefined) remembered.isOutdated = true;
      underWay.delete(change.environmentId);
    }
  });

  function get(environmentId: number): Value | Promise<Value> {
    const remembered = memory.get(environmentId);
    if (remembered === undefined) return askOnce(environmentId);
    const ageMs = performance.now() - remembered.checkedAtMs;
    const usedForMs = changes.isSubscribed() ? trustedForMs : unsubscribedMaxAgeMs;
    if (isCurrent(remembered) && ageMs < usedForMs) {
      // Asked beside, so that in steady traffic nobody waits.
      if (ageMs > usedForMs / 2 && isDue(remembered)) askOnce(environmentId).catch(() => {});
      return remembered.value;
    }
    return isDue(remembered) ? withPatience(askOnce(environmentId), remembered.value) : remembered.value;
  }

  const isCurrent = ({ isOutdated, checkedAtMs }: Remembered<Value>) =>
    !isOutdated && checkedAtMs > mayHaveChangedBeforeMs;
  const isDue = ({ failedAtMs }: Remembered<Value>) => performance.now() - failedAtMs > restAfterFailureMs;

  function askOnce(environmentId: number): Promise<Value> {
    const running = underWay.get(environmentId);
    if (running !== undefined) return running;
    const asked: Promise<Value> = ask(environmentId, () => underWay.get(environmentId) === asked).finally(() => {
      if (underWay.get(environmentId) === asked) underWay.delete(environmentId);
    });
    underWay.set(environmentId, asked);
    return asked;
  }

  /** @param isStillAsked false when a change was announced after the question: then the answer may be the old state. */
  async function ask(environmentId: number, isStillAsked: () => boolean): Promise<Value> {
    const remembered = memory.peek(environmentId);
    const askedAtMs = performance.now();
    try {
      if (remembered !== undefined && !remembered.isOutdated) {
        if ((await findVersion(environmentId)) === remembered.version) {
          if (isStillAsked()) remembered.checkedAtMs = askedAtMs;
          onAsked('unchanged');
          return remembered.value;
        }
      }
      const loaded = await load(environmentId);
      const isOutdated = !isStillAsked();
      const entry = { ...loaded, checkedAtMs: askedAtMs, failedAtMs: Number.NEGATIVE_INFINITY, isOutdated };
      // What may be the old state is still better than nothing, should the database go away now.
      if (!isOutdated || memory.peek(environmentId) === undefined) memory.set(environmentId, entry);
      onAsked('loaded');
      return loaded.value;
    } catch (error) {
      onAsked('failed');
      if (remembered === undefined) throw error;
      remembered.failedAtMs = performance.now();
      return remembered.value;
    }
  }

  return { get, usedBytes: () => memory.calculatedSize };
}

/** What was known before, when a database that says nothing would keep everybody waiting. */
function withPatience<Value>(asked: Promise<Value>, known: Value): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(known), patienceMs);
    asked.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function createMemory<Value>(maxBytes: number): LRUCache<number, Remembered<Value>> {
  return new LRUCache({
    maxSize: maxBytes,
    // One that is larger than all the room is alone in it, rather than created again for every request.
    sizeCalculation: ({ bytes }) => Math.min(Math.max(1, Math.ceil(bytes)), maxBytes),
  });
}
