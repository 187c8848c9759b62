// A minimal tool process: reads a line of JSON arguments from descriptor 3, and writes a line with the result.
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
