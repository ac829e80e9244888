# SPDX-License-Identifier: LGPL-3.0-or-later
# threads that poll, and a soft stop
python3 -c '
import http.server, sys
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        body = (self.path * 500).encode()
        self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers()
        self.wfile.write(body)
    def log_message(self, *a): pass
class S(http.server.ThreadingHTTPServer):
    address_family = 1
    def server_bind(self): self.socket.bind("back"); self.server_name, self.server_port = "x", 0
    def get_request(self): s, _ = self.socket.accept(); return s, ("x", 0)
S("back", H).serve_forever()' &
back=$!
cat >conf <<END
global
  nbthread 3
  stats socket $PWD/stats
defaults
  mode http
  timeout client 20s
  timeout server 20s
  timeout connect 20s
frontend f
  bind 127.0.0.1:$PORT
  compression algo gzip
  default_backend b
backend b
  server s unix@$PWD/back
END
until [ -S back ]; do sleep 0.1; done
haproxy -q -W -f conf &
master=$!
get() { curl -s --retry 20 --retry-all-errors "$@"; }
until get -f http://127.0.0.1:$PORT/x >/dev/null; do sleep 0.1; done
for i in 1 2 3 4 5; do get --compressed http://127.0.0.1:$PORT/abc$i | md5sum; done
ab -q -n 600 -c 8 http://127.0.0.1:$PORT/page | grep -E "Complete"
kill -USR1 $master
status=0
wait $master || status=$?
echo $status
kill $back
wait $back || echo $?
