import { expect, test } from 'vitest';
import { checkOrder } from './rule-sets.ts';

test('property: what a set of policies decides, and why, does not depend on their order', async () => {
  const kinds = await checkOrder(400);
  for (const kind of ['ok', 'denied', 'suspended', 'failed']) expect(kinds.get(kind) ?? 0, kind).toBeGreaterThan(3);
});
