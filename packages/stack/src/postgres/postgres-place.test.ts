import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unprivilegedUser } from '../process/unprivileged-user.ts';
import { postgresPlace, removePostgresPlace } from './postgres-place.ts';

/** Reached by nobody but its owner, like a clone in root's home. */
let closed: string;
const user = unprivilegedUser();

beforeEach(() => {
  closed = mkdtempSync(join(tmpdir(), 'millrace-place-'));
});
afterEach(() => rmSync(closed, { recursive: true, force: true }));

if (user) {
  test('what the server’s user cannot reach lies outside, and is found again', () => {
    const directory = join(closed, 'postgres');
    const place = postgresPlace(directory, user);
    expect(place.data).toMatch(/^\/var\/lib\/millrace\//);
    expect(statSync(place.data)).toMatchObject({ uid: user.uid, mode: 0o40700 });
    expect(postgresPlace(directory, user).data).toBe(place.data);
    removePostgresPlace(directory);
    expect(existsSync(place.data)).toBe(false);
  });

  test('a directory that was moved keeps its data, a copy of it gets its own', () => {
    const [first, second, third] = ['first', 'second', 'third'].map((name) => join(closed, name)) as [
      string,
      string,
      string,
    ];
    const { data } = postgresPlace(first, user);
    renameSync(first, second);
    expect(postgresPlace(second, user).data).toBe(data);
    cpSync(second, third, { recursive: true });
    expect(postgresPlace(third, user).data).not.toBe(data);
    removePostgresPlace(third);
    expect(existsSync(data)).toBe(true);
    removePostgresPlace(second);
    expect(existsSync(data)).toBe(false);
  });

  test('data that are there keep their owner', () => {
    chmodSync(closed, 0o755);
    const directory = join(closed, 'postgres');
    const { data, user: first } = postgresPlace(directory, user);
    expect([data, first]).toEqual([join(directory, 'data'), user]);
    chownSync(data, 12_345, 12_345);
    expect(postgresPlace(directory, user).user).toMatchObject({ uid: 12_345, gid: 12_345 });
  });
} else {
  test('an ordinary user’s data lie where they are asked for', () => {
    const directory = join(closed, 'postgres');
    const place = postgresPlace(directory, undefined);
    expect(place).toEqual({ data: join(directory, 'data'), user: undefined });
    expect(postgresPlace(directory, undefined)).toEqual(place);
  });
}
