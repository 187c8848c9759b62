import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { nameFolder } from './found-code.ts';

test.each([
  ['/home/shop/plugins', './plugins'],
  ['/home/shop/tools/own', './tools/own'],
  ['/home/plugins', '../plugins'],
  ['/srv/plugins', '../../srv/plugins'],
  ['/home/shop', './shop'],
])('the folder %s is named %s', (path, name) => {
  expect(nameFolder(resolve(path), resolve('/home/shop'))).toBe(name);
});
