import type { Sql } from '@millrace/db';
import { type Finding, ok, problem, warning } from '../finding.ts';
import { readClockMs } from './postgres-store.ts';

const samples = 3;
const noticedMs = 2000;
const harmfulMs = 60_000;

/** This machine and PostgreSQL agree on the time. @param now the clock of this machine. */
export async function checkClock(sql: Sql, now = Date.now): Promise<Finding[]> {
  const measured: { skewMs: number; tookMs: number }[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const before = now();
    const theirs = await readClockMs(sql);
    const after = now();
    measured.push({ skewMs: (before + after) / 2 - theirs, tookMs: after - before });
  }
  // The quickest answer says most.
  const [best] = measured.sort((a, b) => a.tookMs - b.tookMs);
  return [judgeSkew(best?.skewMs ?? 0, best?.tookMs ?? 0)];
}

function judgeSkew(skewMs: number, tookMs: number): Finding {
  const off = Math.abs(skewMs);
  if (off <= noticedMs + tookMs / 2) return ok(`this machine and PostgreSQL differ by less than ${noticedMs / 1000} s`);
  const found = `this machine is ${Math.round(off / 1000)} s ${skewMs > 0 ? 'ahead of' : 'behind'} PostgreSQL`;
  const advice = 'let both get their time by NTP; times of events, due dates and expiries are off by this much';
  return off > harmfulMs ? problem(found, advice) : warning(found, advice);
}
