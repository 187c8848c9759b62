import { expect, test } from 'vitest';
import { describeUnread } from './unread.ts';

const english = 'I read English only, and most of the request is in another script.';

test.each([
  { request: 'Read notes.txt', said: undefined },
  { request: 'Read 笔记.txt and count its words', said: undefined },
  { request: '🎉🎉', said: undefined },
  { request: '读取 a.txt', said: english },
  { request: '读取src/a.txt文件', said: english },
  { request: 'اقرأ الملف', said: english },
  { request: 'Прочитай файл', said: english },
  { request: 'Read a.txt. '.repeat(1000), said: 'I read requests of at most 8000 characters; this one has 12000.' },
])('of `$request`: $said', ({ request, said }) => {
  expect(describeUnread(request)).toBe(said);
});
