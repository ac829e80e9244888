-- SPDX-License-Identifier: LGPL-3.0-or-later
import Control.Concurrent
import Control.Exception
import Control.Monad
import qualified Data.Map.Strict as M
import System.Exit
import System.IO
import System.Posix.Signals
import System.Process
import System.Timeout

work :: Int -> Int
work n = M.foldl' (+) 0 (M.fromListWith (+) [(k * k `mod` 1009, k) | k <- [1 .. n]])

main :: IO ()
main = do
    hSetBuffering stdout LineBuffering
    boxes <- forM [1 .. 8] $ \i -> do
        box <- newEmptyMVar
        _ <- forkIO (evaluate (work (30000 * i)) >>= putMVar box)
        return box
    mapM takeMVar boxes >>= print
    got <- newEmptyMVar
    _ <- installHandler sigUSR1 (Catch (putMVar got "usr1")) Nothing
    raiseSignal sigUSR1
    takeMVar got >>= putStrLn
    timeout 200000 (threadDelay 5000000) >>= print
    readProcess "sh" ["-c", "echo child"] "" >>= putStr
    chan <- newChan
    _ <- forkIO (forM_ [1 .. 20000 :: Int] (writeChan chan))
    sums <- replicateM 20000 (readChan chan)
    print (sum sums)
    r <- try (evaluate (1 `div` (0 :: Int))) :: IO (Either ArithException Int)
    print r
    exitWith (ExitFailure 3)
