// Personal data in the browser's storage, which signing out deletes.

const prefix = 'millrace-user-';

/**
 * The storage key of data that may be personal and that signing out deletes. Each user of the browser has their own
 * key.
 */
export const userStorageKey = (name: string, userId: string) => `${prefix}${userId}-${name}`;

/** Deletes all personal data from the browser's storage. */
export function forgetUserStorage(): void {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(prefix)) localStorage.removeItem(key);
  } catch {
    // Storage is not available, so it is empty.
  }
}
