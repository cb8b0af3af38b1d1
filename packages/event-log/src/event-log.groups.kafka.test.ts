import { randomUUID } from 'node:crypto';
import { type CompiledPrograms, compilePrograms, eventually } from '@millrace/testing';
import type { AdapterName } from './testing/adapters.ts';
import {
  type ContractFixture,
  createContractFixtures,
  numbered,
  numbersByKey,
  range,
} from './testing/contract-fixture.ts';
import { countEffects, createExactHandler, type Effect } from './testing/effects.ts';
import { type MemberProcess, memberProgram, startMember } from './testing/start-member.ts';

let fixtures: Record<AdapterName, ContractFixture>;
let programs: CompiledPrograms;
beforeAll(async () => {
  [fixtures, programs] = await Promise.all([createContractFixtures(), compilePrograms([memberProgram])]);
});
afterAll(async () => {
  await Promise.all(Object.values(fixtures).map((fixture) => fixture.stop()));
  await programs.remove();
});

/** Tests the promises of `EventLog` when members of a consumer group join, leave and crash, with both adapters. */
describe.each<AdapterName>(['kafka', 'postgres'])('a consumer group on %s', (adapter) => {
  const keys = range(0, 24).map((number) => `token:person-${number}`);

  /**
   * Appends increasing numbers to each of 24 keys at intervals, until enough have been appended.
   * @returns how many numbers were appended
   */
  async function appendSlowly(topic: string, isEnough: (count: number) => boolean): Promise<number> {
    let count = 0;
    for (; !isEnough(count); count += 1) {
      await fixtures[adapter].log.append(keys.flatMap((key) => numbered(topic, key, count, 1)));
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return count;
  }

  function expectEachOnceInOrder(effects: Effect[], count: number): void {
    expect(effects).toHaveLength(keys.length * count);
    const numbers = numbersByKey(effects);
    for (const key of keys) expect(numbers.get(key)).toEqual(range(0, count));
  }

  test.concurrent('rebalances the partitions when a second member joins and when it leaves', async () => {
    const fixture = fixtures[adapter];
    const topic = await fixture.createTopic(4);
    const group = randomUUID();
    const join = (name: string) =>
      fixture.consume(topic, group, createExactHandler(fixture.database, topic, group, name));
    const handledBy = async () => new Set((await fixture.effects(topic, group, 0)).map((effect) => effect.handledBy));

    await join('first');
    let isEnough = false;
    const appending = appendSlowly(topic, () => isEnough);
    await eventually(async () => (await handledBy()).has('first'), { what: 'work of the first' });
    const second = await join('second');
    await eventually(async () => (await handledBy()).has('second'), { what: 'work of the second' });
    await second.stop();
    const third = await join('third');
    await eventually(async () => (await handledBy()).has('third'), { what: 'work of the third' });
    isEnough = true;
    const count = await appending;

    const effects = await fixture.effects(topic, group, keys.length * count);
    expectEachOnceInOrder(effects, count);
    await third.stop();
    await fixture.log.append(keys.flatMap((key) => numbered(topic, key, count, 1)));
    await fixture.effects(topic, group, keys.length * (count + 1));
  });

  test.concurrent('tells handlers when their partitions move to a new member, and the new member starts immediately', async () => {
    const fixture = fixtures[adapter];
    const topic = await fixture.createTopic(4);
    const group = randomUUID();
    const exact = createExactHandler(fixture.database, topic, group, 'slow');
    let atWork = 0;
    let notifications = 0;
    let isReleased = false;
    await fixture.log.append(keys.flatMap((key) => numbered(topic, key, 0, 1)));
    await fixture.consume(topic, group, {
      ...exact,
      async handler(batch, { signal }) {
        atWork += 1;
        await eventually(() => signal.aborted || isReleased, { what: 'a word' });
        notifications += signal.aborted ? 1 : 0;
        return exact.handler(batch);
      },
    });
    await eventually(() => atWork >= 4, { what: 'four handlers at work' });
    await fixture.consume(topic, group, createExactHandler(fixture.database, topic, group, 'new'));
    await eventually(() => notifications >= 2, { what: 'notifications of two of them' });
    isReleased = true;
    expectEachOnceInOrder(await fixture.effects(topic, group, keys.length), 1);
  });

  test.concurrent('spreads partitions evenly, with none for excess members', async () => {
    const fixture = fixtures[adapter];
    const topic = await fixture.createTopic(4);
    const group = randomUUID();
    const partitionsOf = new Map<string, Set<number>>();
    for (const name of ['one', 'two', 'three', 'four', 'five']) {
      const exact = createExactHandler(fixture.database, topic, group, name);
      await fixture.consume(topic, group, {
        ...exact,
        async handler(batch) {
          partitionsOf.set(name, (partitionsOf.get(name) ?? new Set()).add(batch.partition));
          return exact.handler(batch);
        },
      });
    }
    let number = 0;
    await eventually(
      async () => {
        partitionsOf.clear();
        await fixture.log.append(keys.flatMap((key) => numbered(topic, key, number, 1)));
        number += 1;
        const expected = keys.length * number;
        await eventually(async () => (await countEffects(fixture.database, topic, group)) >= expected, {
          what: 'the records',
        });
        return partitionsOf.size === 4 && [...partitionsOf.values()].every((partitions) => partitions.size === 1);
      },
      { what: 'four members with one partition each' },
    );
    expectEachOnceInOrder(await fixture.effects(topic, group, keys.length * number), number);
  });

  test.concurrent('stores every event exactly once when members are killed', async () => {
    const fixture = fixtures[adapter];
    const topic = await fixture.createTopic(4);
    const group = randomUUID();
    const total = 250;
    const start = (name: string): MemberProcess =>
      startMember(programs.files[0] ?? '', {
        adapter,
        databaseUrl: fixture.databaseUrl,
        topic,
        group,
        name,
        batchMs: 15,
      });
    const progress = async (count: number) =>
      eventually(async () => (await countEffects(fixture.database, topic, group)) >= count, {
        what: `${count} effects`,
        describe: async () => `seen: ${await countEffects(fixture.database, topic, group)}`,
      });

    const members = [start('a'), start('b')];
    try {
      await Promise.all(members.map(({ ready }) => ready));
      const appending = appendSlowly(topic, (count) => count === total);
      await progress(300);
      await members[0]?.kill();
      members.push(start('c'));
      await progress(1500);
      await members[1]?.kill();
      await members[2]?.kill();
      await appending;
      members.push(start('d'));
      await progress(keys.length * total);
      expectEachOnceInOrder(await fixture.effects(topic, group, keys.length * total), total);
    } finally {
      await Promise.all(members.map((member) => member.kill()));
    }
  });
});
