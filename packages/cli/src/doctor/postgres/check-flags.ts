import type { Sql } from '@millrace/db';
import { sdkWarnings } from '@millrace/flags';
import { type Finding, listed, orOk, warning } from '../finding.ts';
import { readActiveFlags, readServerSdks } from './postgres-store.ts';

/**
 * Flags that an SDK evaluates otherwise than the server (docs/flags.md#definitions-that-some-sdks-evaluate-otherwise), where a
 * project's last events came from that SDK too: of the others nobody needs to hear.
 */
export async function checkFlags(sql: Sql): Promise<Finding[]> {
  const flags = await readActiveFlags(sql);
  const sdks = await readServerSdks(sql, [...new Set(flags.map(({ projectId }) => projectId))]);
  const keysOf = new Map<string, string[]>();
  for (const { projectId, key, ...definition } of flags) {
    for (const sentence of sdkWarnings(definition)) {
      const named: string[] = sentence.match(/posthog-\w+/g) ?? [];
      if (!named.some((sdk) => sdks.get(projectId)?.has(sdk))) continue;
      const about = `project ${projectId}: ${sentence}`;
      keysOf.set(about, [...(keysOf.get(about) ?? []), key]);
    }
  }
  const findings = [...keysOf].map(([about, keys]) =>
    warning(
      `${about} Flags: ${listed(keys)}`,
      'update the SDK where a version is named, or have it ask the server instead of evaluating by itself',
    ),
  );
  return orOk(findings, `${flags.length} are active, and no SDK that was seen evaluates one otherwise`);
}
