// `millrace health`: shows whether a project's events are being stored, and with how much delay.

import type { Command } from 'commander';
import { type ApiOptions, addApiOptions, createProjectApiClient } from '../management-api.ts';
import { createPrinter, type Terminal } from '../output.ts';

/** The fields of the management API's health response that are printed as text. `--json` prints all fields. */
interface Health {
  version: string;
  alarm: { detail: string } | null;
  visible_after_seconds: number | null;
  topics:
    | {
        topic: string;
        waiting: number;
        oldest_seconds: number | null;
        accepted_per_minute: number | null;
        read_at: string | null;
      }[]
    | null;
  per_minute: { stored: number | null; dropped: { reason: string; count: number }[] | null };
  dead_letters_waiting: number | null;
  services: { name: string; connections: number }[] | null;
  sources: Record<string, string>;
}

/**
 * Adds `health`, which shows whether a project's events are being stored, and with how much delay. To check servers and
 * disks, use `doctor`.
 */
export function addHealthCommand(program: Command, terminal: Terminal): void {
  addApiOptions(
    program
      .command('health')
      .description(
        "show whether a project's events arrive and how late they are, through the management API. Exits with " +
          'code 1 while events are late',
      ),
    'the scope event:read',
  ).action(async (_options: unknown, command: Command) => {
    const options = command.optsWithGlobals<ApiOptions>();
    const health = (await createProjectApiClient(options, terminal).call('GET', 'health/')) as Health;
    if (options.json === true) terminal.out.write(`${JSON.stringify(health, null, 2)}\n`);
    else print(terminal, health);
    if (health.alarm !== null) throw new Error(health.alarm.detail);
  });
}

function print(terminal: Terminal, health: Health): void {
  const { per_minute: minute, sources } = health;
  const printer = createPrinter(terminal, false);
  printer.record({
    visibleAfterSeconds: health.visible_after_seconds,
    storedPerMinute: minute.stored,
    droppedPerMinute: minute.dropped?.map(({ reason, count }) => `${reason} ${count}`) ?? null,
    deadLettersWaiting: health.dead_letters_waiting,
    services: health.services?.map(({ name, connections }) => `${name} ${connections}`) ?? null,
    apiVersion: health.version,
  });
  if (health.topics !== null) {
    terminal.out.write('\n');
    printer.table(
      health.topics.map((one) => ({
        topic: one.topic,
        waiting: one.waiting,
        oldestSeconds: one.oldest_seconds,
        acceptedPerMinute: one.accepted_per_minute,
        lastStored: one.read_at,
      })),
    );
  }
  for (const [name, state] of Object.entries(sources)) {
    if (state !== 'ok') printer.note(`warning: ${name.replaceAll('_', ' ')}: currently unknown. ${state}`);
  }
}
