import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findUnprivilegedUser } from '../run-program.ts';
import { findPostgresFiles, removePostgresFiles } from './postgres.ts';

/** A directory that only its owner can enter, like root's home directory. */
let closed: string;
const user = findUnprivilegedUser();

beforeEach(() => {
  closed = mkdtempSync(join(tmpdir(), 'millrace-files-'));
});
afterEach(() => rmSync(closed, { recursive: true, force: true }));

if (user) {
  test('stores data in /var/lib if the PostgreSQL user cannot enter the directory, and finds the data again', () => {
    const directory = join(closed, 'postgres');
    const files = findPostgresFiles(directory, user);
    expect(files.data).toMatch(/^\/var\/lib\/millrace\//);
    expect(statSync(files.data)).toMatchObject({ uid: user.uid, mode: 0o40700 });
    expect(findPostgresFiles(directory, user).data).toBe(files.data);
    removePostgresFiles(directory);
    expect(existsSync(files.data)).toBe(false);
  });

  test('a moved directory keeps its PostgreSQL data, and a copied directory gets new data', () => {
    const [first, second, third] = ['first', 'second', 'third'].map((name) => join(closed, name)) as [
      string,
      string,
      string,
    ];
    const { data } = findPostgresFiles(first, user);
    renameSync(first, second);
    expect(findPostgresFiles(second, user).data).toBe(data);
    cpSync(second, third, { recursive: true });
    expect(findPostgresFiles(third, user).data).not.toBe(data);
    removePostgresFiles(third);
    expect(existsSync(data)).toBe(true);
    removePostgresFiles(second);
    expect(existsSync(data)).toBe(false);
  });

  test('existing PostgreSQL data keeps its owner', () => {
    chmodSync(closed, 0o755);
    const directory = join(closed, 'postgres');
    const { data, user: first } = findPostgresFiles(directory, user);
    expect([data, first]).toEqual([join(directory, 'data'), user]);
    chownSync(data, 12_345, 12_345);
    expect(findPostgresFiles(directory, user).user).toMatchObject({ uid: 12_345, gid: 12_345 });
  });
} else {
  test('stores data in the requested directory if a regular user starts the server', () => {
    const directory = join(closed, 'postgres');
    const files = findPostgresFiles(directory, undefined);
    expect(files).toEqual({ data: join(directory, 'data'), user: undefined });
    expect(findPostgresFiles(directory, undefined)).toEqual(files);
  });
}
