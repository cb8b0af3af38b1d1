/** How long requests wait for the stores, milliseconds. A turn is the time until others that ask the same store are done. */
export interface StoreTimeLimits {
  /** A key in the shared cache. */
  cachedKeyMs: number;
  /** A key in PostgreSQL. */
  keyMs: number;
  keyTurnMs: number;
  /** What is stored for one request of flags. */
  flagDataMs: number;
  flagDataTurnMs: number;
  /** Definitions of flags: they may be large, and are remembered. */
  definitionsMs: number;
  definitionsTurnMs: number;
  /** Settings of an environment, and its early access features. */
  settingsMs: number;
  /** Whose a bearer's key is. */
  bearerTurnMs: number;
}

export const storeTimeLimits: StoreTimeLimits = {
  cachedKeyMs: 200,
  keyMs: 500,
  keyTurnMs: 1000,
  flagDataMs: 250,
  flagDataTurnMs: 100,
  definitionsMs: 2500,
  definitionsTurnMs: 500,
  settingsMs: 500,
  bearerTurnMs: 500,
};
