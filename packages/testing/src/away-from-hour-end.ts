import { eventually } from './eventually.ts';

interface Sql {
  query(text: string): Promise<Record<string, unknown>[]>;
}

/** Waits while the server's hour has less than a minute left: what is counted by the hour would begin anew within a test. */
export async function awayFromHourEnd(sql: Sql): Promise<void> {
  await eventually(
    async () => {
      const [row] = await sql.query(
        `SELECT date_trunc('hour', now() + interval '1 minute') = date_trunc('hour', now()) AS is_away`,
      );
      return row?.is_away === true;
    },
    { what: 'The next hour' },
  );
}
