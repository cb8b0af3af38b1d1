// Manages personal data in the browser's storage. Signing out deletes this data.

const prefix = 'millrace-user-';

/** Returns the storage key of personal data. Each user of the browser has separate keys. */
export const userStorageKey = (name: string, userId: string) => `${prefix}${userId}-${name}`;

/** Deletes all personal data from the browser's storage. */
export function deleteUserStorage(): void {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(prefix)) localStorage.removeItem(key);
  } catch {
    // If storage is not available, it does not contain personal data.
  }
}
