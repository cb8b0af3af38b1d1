import { type Command, InvalidArgumentError } from 'commander';
import { explanationLines } from '../flags/explanation-lines.ts';
import { noSuchFlag } from '../flags/find-flag.ts';
import type { Reason } from '../flags/flag-answers.ts';
import { type ApiOptions, connectApi, withApiOptions } from '../management-api/connect-api.ts';
import { createPrinter } from '../print.ts';
import type { Terminal } from '../terminal.ts';

interface EvaluateOptions extends ApiOptions {
  distinctId: string;
  group: Record<string, string>;
  property: Record<string, unknown>;
  explain?: boolean;
}

/** `flags evaluate`: what a flag is for somebody, and why. */
export function addEvaluateCommand(commands: Command, terminal: Terminal): void {
  withApiOptions(
    commands
      .command('evaluate')
      .description('evaluate a flag for a person, by the stored properties of the person and the groups')
      .argument('<key>', "the flag's key")
      .requiredOption('--distinct-id <id>', 'distinct id of the person')
      .option('--group <type=key>', 'a group of the person; may be given several times', collect, {})
      .option('--property <name=value>', 'instead of what is stored; JSON or text', collectJson, {})
      .option('--explain', 'name every condition, the properties, where their values came from, and the hashes'),
  ).action(async (key: string, _options: unknown, command: Command) => {
    const options = command.optsWithGlobals<EvaluateOptions>();
    const reason = await askReason(key, options, terminal);
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

/** @throws Refusal when there is no such flag. */
async function askReason(key: string, options: EvaluateOptions, terminal: Terminal): Promise<Reason> {
  const query = new URLSearchParams({
    distinct_id: options.distinctId,
    groups: JSON.stringify(options.group),
    person_properties: JSON.stringify(options.property),
  });
  const reasons = (await connectApi(options, terminal).call(
    'GET',
    `feature_flags/evaluation_reasons/?${query}`,
  )) as Record<string, Reason>;
  const reason = Object.hasOwn(reasons, key) ? reasons[key] : undefined;
  if (reason === undefined) throw noSuchFlag(key, Object.keys(reasons));
  return reason;
}

function collect(text: string, collected: Record<string, string>): Record<string, string> {
  const [name, value] = parted(text);
  return { ...collected, [name]: value };
}

function collectJson(text: string, collected: Record<string, unknown>): Record<string, unknown> {
  const [name, value] = parted(text);
  return { ...collected, [name]: parsed(value) };
}

function parted(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Give a name, = and a value.');
  return [text.slice(0, at), text.slice(at + 1)];
}

/** `5` is a number, `true` a boolean, `free` a text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
