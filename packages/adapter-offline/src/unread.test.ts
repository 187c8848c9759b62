import { expect, test } from 'vitest';
import { describeUnread } from './unread.ts';

const english = 'I read English only, and most of the request is in another script.';

test.each([
  { request: 'Read notes.txt', said: [] },
  { request: 'Read 笔记.txt and count its words', said: [] },
  { request: '🎉🎉', said: [] },
  { request: '读取 a.txt', said: [english] },
  { request: '读取src/a.txt文件', said: [english] },
  { request: 'اقرأ الملف', said: [english] },
  { request: 'Прочитай файл', said: [english] },
  { request: 'Read a.txt. '.repeat(1000), said: ['I read the first 8000 characters of the request; it has 12000.'] },
])('of `$request`: $said', ({ request, said }) => {
  expect(describeUnread(request)).toEqual(said);
});
