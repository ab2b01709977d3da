// The smallest MCP server: no dependency, ready in about 30 ms.
let rest = '';
const answer = (id, result) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
process.stdin.on('data', (data) => {
  rest += data;
  const lines = rest.split('\n');
  rest = lines.pop();
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (method === 'initialize') {
      answer(id, {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'tiny', version: '1' },
      });
    } else if (method === 'tools/list') {
      answer(id, { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] });
    } else if (method === 'tools/call') {
      answer(id, { content: [{ type: 'text', text: `${process.pid} ${params.arguments?.text ?? ''}` }] });
    } else if (id !== undefined) {
      process.stdout.write(
        `${JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } })}\n`,
      );
    }
  }
});
process.stdin.on('end', () => process.exit(0));
