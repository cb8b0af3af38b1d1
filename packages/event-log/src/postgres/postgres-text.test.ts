import fc from 'fast-check';
import { fromPostgresText, toPostgresText } from './store.ts';

test('stores any string in PostgreSQL and reads it back unchanged', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom('\\', '0', '\0', 'a') }));
  fc.assert(
    fc.property(text, (original) => {
      const stored = toPostgresText(original);
      expect(stored).not.toContain('\0');
      expect(fromPostgresText(stored)).toBe(original.toWellFormed());
    }),
    { numRuns: 1000 },
  );
});
