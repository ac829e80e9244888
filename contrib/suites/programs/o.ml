(* SPDX-License-Identifier: LGPL-3.0-or-later *)
let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)

exception Far of int

let rec deep n = if n = 0 then raise (Far 7) else 1 + deep (n - 1)

let () =
  let threads = List.init 4 (fun i -> Thread.create (fun () -> Printf.printf "%d\n%!" (fib (24 + (i * 0)))) ()) in
  List.iter Thread.join threads;
  Sys.set_signal Sys.sigalrm (Sys.Signal_handle (fun _ -> print_endline "alarm"));
  ignore (Unix.setitimer Unix.ITIMER_REAL { Unix.it_interval = 0.; it_value = 0.1 });
  (try Unix.sleepf 0.5 with Unix.Unix_error (Unix.EINTR, _, _) -> ());
  (try ignore (deep 100000) with Far n -> Printf.printf "far %d\n" n);
  let table = Hashtbl.create 16 in
  for i = 1 to 300000 do Hashtbl.replace table (i * 7919 mod 10007) i done;
  Printf.printf "%d\n%!" (Hashtbl.fold (fun _ v s -> s + v) table 0);
  (match Unix.fork () with
   | 0 -> exit 4
   | pid -> (match Unix.waitpid [] pid with
       | _, Unix.WEXITED n -> Printf.printf "child %d\n" n
       | _ -> print_endline "other"));
  exit 5
