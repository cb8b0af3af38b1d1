import fc from 'fast-check';
import { v5 } from 'uuid';
import { derivePersonUuid } from './persons.ts';

test("derives a person's UUID as the UUIDv5 of the project and the distinct ID in a fixed namespace", () => {
  fc.assert(
    fc.property(fc.nat(), fc.string({ unit: 'binary' }), (projectId, distinctId) => {
      const expected = v5(`${projectId}:${distinctId}`, '932979b4-65c3-4424-8467-0b66ec27bc22');
      expect(derivePersonUuid(projectId, distinctId)).toBe(expected);
    }),
  );
});

test('derives the same person UUID as earlier versions of Millrace', () => {
  expect(derivePersonUuid(1, 'ünï')).toBe('d9eac7e0-c905-5f92-990e-67e98866fcca');
});
