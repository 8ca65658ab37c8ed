// Sets the requested marks, and answers over the port that came with the request.
onmessage = ({ data, ports: [port] }) => {
  performance.mark(data);
  port.postMessage({ said: data });
};
