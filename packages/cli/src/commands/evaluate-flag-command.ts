import { type Command, InvalidArgumentError, Option } from 'commander';
import { createUnknownFlagError, type Explanation, type Reason } from '../flag-api.ts';
import { type ApiOptions, addApiOptions, createProjectApiClient } from '../management-api.ts';
import { createPrinter, type Terminal } from '../output.ts';

interface EvaluateOptions extends ApiOptions {
  distinctId: string;
  group: Record<string, string>;
  property: Record<string, unknown>;
  explain?: boolean;
}

/** Adds `flags evaluate`, which shows a flag's value for one person and explains it. */
export function addEvaluateCommand(commands: Command, terminal: Terminal): void {
  addApiOptions(
    commands
      .command('evaluate')
      .description('evaluate a flag for a person, using stored person and group properties')
      .argument('<key>', 'flag key')
      .requiredOption('--distinct-id <id>', 'distinct ID of the person')
      .addOption(
        new Option('--group <type=key>', 'a group that the person belongs to (repeatable)')
          .argParser(collect)
          .default({}, 'none'),
      )
      .addOption(
        new Option(
          '--property <name=value>',
          'property value to use instead of the stored one, as JSON or text (repeatable)',
        )
          .argParser(collectJson)
          .default({}, 'none'),
      )
      .option('--explain', 'show each condition, its properties, the source of their values, and the hashes'),
  ).action(async (key: string, _options: unknown, command: Command) => {
    const options = command.optsWithGlobals<EvaluateOptions>();
    const reason = await requestReason(key, options, terminal);
    const { value, evaluation, explanation } = reason;
    if (options.json === true) {
      const shown = { key, value, evaluation, ...(options.explain === true && { explanation }) };
      terminal.out.write(`${JSON.stringify(shown, null, 2)}\n`);
      return;
    }
    const condition = evaluation.condition_index === null ? null : evaluation.condition_index + 1;
    createPrinter(terminal, false).record({
      key,
      value,
      reason: evaluation.reason,
      condition,
      description: evaluation.description,
    });
    if (options.explain === true) for (const line of explanationLines(reason)) terminal.out.write(`${line}\n`);
  });
}

/** Requests an evaluation and its explanation. @throws Refusal if the flag does not exist */
async function requestReason(key: string, options: EvaluateOptions, terminal: Terminal): Promise<Reason> {
  const query = new URLSearchParams({
    distinct_id: options.distinctId,
    groups: JSON.stringify(options.group),
    person_properties: JSON.stringify(options.property),
  });
  const reasons = (await createProjectApiClient(options, terminal).call(
    'GET',
    `feature_flags/evaluation_reasons/?${query}`,
  )) as Record<string, Reason>;
  const reason = Object.hasOwn(reasons, key) ? reasons[key] : undefined;
  if (reason === undefined) throw createUnknownFlagError(key, Object.keys(reasons));
  return reason;
}

function collect(text: string, collected: Record<string, string>): Record<string, string> {
  const [name, value] = splitNameAndValue(text);
  return { ...collected, [name]: value };
}

function collectJson(text: string, collected: Record<string, unknown>): Record<string, unknown> {
  const [name, value] = splitNameAndValue(text);
  return { ...collected, [name]: parsePropertyValue(value) };
}

function splitNameAndValue(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Must have the form name=value.');
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Parses a property value from the command line: `5` becomes a number, `true` a boolean and `free` a string. */
function parsePropertyValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Describes each step of the evaluation in one line. Omits property values, which may be personal data. */
function explanationLines({ evaluation, explanation }: Reason): string[] {
  if (explanation === null) return [];
  const { hashed, holdout, enrollment, conditions, variant_hash: variantHash } = explanation;
  return [
    `hashed: ${hashed}`,
    ...(holdout === null
      ? []
      : [
          `holdout of ${holdout.percentage}%: hash ${shown(holdout.hash)}, ${holdout.is_held_out ? 'held out' : 'not held out'}`,
        ]),
    ...(enrollment ?? []).map(({ property, source }) => `enrollment by ${property}: ${sourceWords(source)}`),
    ...conditions.flatMap((condition, index) =>
      conditionLines(condition, { number: index + 1, isDeciding: index === evaluation.condition_index }),
    ),
    ...(variantHash === null ? [] : [`variant: hash ${shown(variantHash)}`]),
  ];
}

type Condition = Explanation['conditions'][number];

function conditionLines(
  { outcome, filters, rollout }: Condition,
  { number, isDeciding }: { number: number; isDeciding: boolean },
): string[] {
  return [
    `condition ${number}: ${outcome}${isDeciding ? ' (this condition determined the result)' : ''}`,
    ...filters.map((filter) => `  ${filterWords(filter)}`),
    `  rollout ${rollout.percentage}%: hash ${shown(rollout.hash)}`,
  ];
}

function filterWords({ about, id, key, source, property, outcome }: Condition['filters'][number]): string {
  const result = outcome === true ? 'matches' : outcome === false ? 'does not match' : String(outcome);
  if (key === undefined) return `${about}${id === undefined ? '' : ` ${id}`}: ${result}`;
  const standsIn = property === undefined || property === key ? '' : ` by ${property}`;
  return `${about} property ${key}${standsIn}, ${sourceWords(source ?? '')}: ${result}`;
}

function sourceWords(source: string): string {
  const words: Record<string, string> = {
    request: 'value from the command',
    distinct_id: 'value is the distinct ID',
    group_key: 'value is the group key',
    stored: 'stored value',
    missing: 'no value',
    unavailable: 'value unavailable',
  };
  return words[source] ?? source;
}

function shown(hash: number | null): string {
  return hash === null ? 'none' : hash.toFixed(6);
}
