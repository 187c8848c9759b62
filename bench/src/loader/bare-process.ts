// What a tool's process does, and nothing else: a line of JSON with arguments comes in at descriptor 3, one with the result goes out.
import { Socket } from 'node:net';
import { answer } from './bare-answer.ts';

const socket = new Socket({ fd: 3, readable: true, writable: true });
let text = '';
socket.setEncoding('utf8');
socket.on('data', (chunk: string) => {
  text += chunk;
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n')) {
    const line = text.slice(0, end);
    text = text.slice(end + 1);
    socket.write(`${JSON.stringify(answer(JSON.parse(line)))}\n`);
  }
});
socket.on('close', () => process.exit());
