import { flattenOverlay } from '../values/properties.ts';
import type { ExpectedOutcome, ExpectedPerson, RuleCase } from './rule-case.ts';
import { createRuleWorld, type RuleCaseOutcome, type RuleWorld } from './rule-world.ts';

export function checkRuleCase(ruleCase: RuleCase): void {
  const world = createRuleWorld(ruleCase.start);
  const outcomes = ruleCase.send.map((event) => world.send(event));
  if (ruleCase.persons) {
    expect(world.ledger.persons.size).toBe(ruleCase.persons.length);
    for (const person of ruleCase.persons) checkPerson(world, person);
  }
  if (ruleCase.outcomes) {
    expect(outcomes).toHaveLength(ruleCase.outcomes.length);
    for (const [index, expected] of ruleCase.outcomes.entries()) checkOutcome(world, outcomes[index], expected);
  }
  ruleCase.also?.(world);
}

function checkPerson(world: RuleWorld, expected: ExpectedPerson): void {
  const [anyId = ''] = expected.ids;
  expect(world.idsWith(anyId)).toEqual([...expected.ids].sort());
  const person = world.personOf(anyId);
  const { $creator_event_uuid: _, ...properties } = person?.properties ?? {};
  const actual: ExpectedPerson = { ids: expected.ids };
  if (expected.uuidOf !== undefined) expect(person?.uuid).toBe(world.uuidOf(expected.uuidOf));
  if (expected.uuidOf !== undefined) actual.uuidOf = expected.uuidOf;
  if (expected.mainId !== undefined) actual.mainId = person?.mainDistinctId;
  if (expected.properties !== undefined) actual.properties = properties;
  if (expected.isIdentified !== undefined) actual.isIdentified = person?.isIdentified;
  if (expected.version !== undefined) actual.version = person?.version;
  if (expected.createdAt !== undefined) actual.createdAt = new Date(person?.createdAtMs ?? Number.NaN).toISOString();
  expect(actual).toEqual(expected);
}

function checkOutcome(world: RuleWorld, outcome: RuleCaseOutcome | undefined, expected: ExpectedOutcome): void {
  expect(outcome?.warnings.map((warning) => warning.type)).toEqual(expected.warnings ?? []);
  if (expected.dropped !== undefined) {
    expect(outcome).toMatchObject({ kind: 'drop', reason: expected.dropped });
    return;
  }
  expect(outcome).toMatchObject({ kind: 'store' });
  if (outcome?.kind !== 'store') return;
  const row = { ...outcome.row, properties: flattenOverlay(outcome.row.properties) };
  for (const [column, value] of Object.entries(expected.row ?? {})) {
    expect({ [column]: row[column as keyof typeof row] }).toEqual({ [column]: value });
  }
  if (expected.personOf !== undefined) expect(row.personUuid).toBe(world.uuidOf(expected.personOf));
  expect(row.properties).toMatchObject(withoutUndefined(expected.properties));
  expect(row.personProperties).toMatchObject(withoutUndefined(expected.personProperties));
  for (const [key, value] of Object.entries(expected.properties ?? {})) {
    if (value === undefined) expect(Object.keys(row.properties)).not.toContain(key);
  }
  for (const [key, value] of Object.entries(expected.personProperties ?? {})) {
    if (value === undefined) expect(Object.keys(row.personProperties)).not.toContain(key);
  }
}

function withoutUndefined(object: Record<string, unknown> = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
