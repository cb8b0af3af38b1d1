// Personal data in the browser's storage, which signing out deletes.

const prefix = 'millrace-user-';

/** Key of data in the browser's storage that may be personal, and that signing out deletes. Another user of the browser has another key. */
export const userStorageKey = (name: string, userId: string) => `${prefix}${userId}-${name}`;

/** Deletes all of these data. */
export function forgetUserStorage(): void {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(prefix)) localStorage.removeItem(key);
  } catch {
    // Storage is not available, so it is empty.
  }
}
