// Stores personal data in the browser. Signing out deletes this data.

const prefix = 'millrace-user-';

/** Returns a local storage key for personal data. Each user of the browser has separate keys. */
export const userStorageKey = (name: string, userId: string) => `${prefix}${userId}-${name}`;

export function deleteUserStorage(): void {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(prefix)) localStorage.removeItem(key);
  } catch {
    // Without local storage, no personal data has been stored, so nothing has to be deleted.
  }
}
